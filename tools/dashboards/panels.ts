import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatPanel } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TablePanel } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeriesPanel } from '@grafana/grafana-foundation-sdk/timeseries';
import {
  LegendDisplayMode,
  LegendPlacement,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';

/** The provisioned data sources, as deploy/grafana/provisioning names them. */
const prometheus = { type: 'prometheus', uid: 'hqrelay-prometheus' };
export const postgres = { type: 'grafana-postgresql-datasource', uid: 'hqrelay-postgres' };

/** The schema of dashboards that every Grafana from 11 on provisions from files; the SDK calls it deprecated for its next one. */
export function createDashboard(title: string) {
  // oxlint-disable-next-line typescript/no-deprecated
  return new DashboardBuilder(title).tags(['hqrelay']).readonly();
}

/** The expression of each series, by its legend; `{{queue}}` in a legend is the value of the label. */
type Series = Readonly<Record<string, string>>;

type Panel = { title: string; description: string; unit: string; series: Series };

export function timeSeries({
  title,
  description,
  unit,
  series,
  warnAt,
}: Panel & { warnAt?: number }): TimeSeriesPanel {
  const panel = new TimeSeriesPanel()
    .title(title)
    .description(description)
    .unit(unit)
    .min(0)
    .datasource(prometheus)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .thresholds(warnAt === undefined ? steps('green') : steps('green', [warnAt, 'red']));
  for (const query of queriesOf(series)) panel.withTarget(query);
  return panel;
}

/** One figure of now, whose background is red from `badFrom` on. */
export function figure({
  title,
  description,
  unit,
  series,
  badFrom,
  badBelow,
}: Panel & { badFrom?: number; badBelow?: number }): StatPanel {
  const panel = new StatPanel()
    .title(title)
    .description(description)
    .unit(unit)
    .decimals(unit === 'short' ? 0 : 2)
    .datasource(prometheus)
    .thresholds(
      badBelow !== undefined
        ? steps('red', [badBelow, 'green'])
        : badFrom !== undefined
          ? steps('green', [badFrom, 'red'])
          : steps('blue'),
    );
  for (const query of queriesOf(series)) panel.withTarget(query.instant());
  return panel;
}

/** A table of the rows of a query in Postgres. */
export function sqlTable(title: string, description: string, rawSql: string): TablePanel {
  return new TablePanel()
    .title(title)
    .description(description)
    .datasource(postgres)
    .withTarget(sqlQuery(rawSql, 'table'));
}

/** A graph of a query in Postgres that returns `time`, `metric` and one number. */
export function sqlTimeSeries(title: string, description: string, rawSql: string): TimeSeriesPanel {
  return new TimeSeriesPanel()
    .title(title)
    .description(description)
    .datasource(postgres)
    .unit('short')
    .min(0)
    .withTarget(sqlQuery(rawSql, 'time_series'));
}

export function linkTo(title: string, url: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url).keepTime(true);
}

function sqlQuery(rawSql: string, format: 'table' | 'time_series'): Builder<Dataquery> {
  const query = { refId: 'A', datasource: postgres, editorMode: 'code', format, rawQuery: true, rawSql };
  return { build: () => query as unknown as Dataquery };
}

function queriesOf(series: Series): DataqueryBuilder[] {
  return Object.entries(series).map(([legend, expr], index) =>
    new DataqueryBuilder()
      .refId(String.fromCodePoint('A'.codePointAt(0)! + index))
      .datasource(prometheus)
      .expr(expr)
      .legendFormat(legend),
  );
}

function steps(base: string, ...others: [from: number, color: string][]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: base }, ...others.map(([value, color]) => ({ value, color }))]);
}
