import {
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { createDashboard, linkTo, postgres, sqlTable, sqlTimeSeries } from './panels.ts';
import * as queries from './project-queries.ts';

/** *Projects and endpoints*: which endpoint fails and why, down to the history of one webhook. */
export function projectsAndEndpoints() {
  return createDashboard('Projects and endpoints')
    .uid('hqrelay-projects')
    .description(
      'Which endpoint fails and why, down to the history of one webhook. From the audit tables; more queries: docs/sql.md.',
    )
    .time({ from: 'now-6h', to: 'now' })
    .link(linkTo('Relay overview', '/d/hqrelay-overview'))
    .withVariable(
      new QueryVariableBuilder('project')
        .label('Project')
        .datasource(postgres)
        .query(queries.projectVariable)
        .multi(true)
        .includeAll(true)
        .current({ selected: true, text: ['All'], value: ['$__all'] }),
    )
    .withVariable(
      new TextBoxVariableBuilder('webhook')
        .label('Webhook')
        .description('The id of the 202; endpoints get it as webhook-id'),
    )
    .withRow(new RowBuilder('Endpoints'))
    .withPanel(
      sqlTable(
        'Failures by endpoint',
        'Failed attempts of the period with the last error, most failures first.',
        queries.failuresByEndpoint,
      )
        .span(12)
        .height(9),
    )
    .withPanel(
      sqlTable('Slowest endpoints', 'How long endpoints took to answer, in ms.', queries.slowestEndpoints)
        .span(12)
        .height(9),
    )
    .withPanel(
      sqlTimeSeries('Failed attempts', 'Failed attempts by project.', queries.failuresOverTime)
        .span(12)
        .height(8),
    )
    .withPanel(
      sqlTable(
        'Requests by project',
        'Requests of providers by outcome, and the most frequent reason of a refusal.',
        queries.requestsByProject,
      )
        .span(12)
        .height(8),
    )
    .withRow(new RowBuilder('Webhooks'))
    .withPanel(
      sqlTable(
        'Latest failed attempts',
        'A click on an id shows the history of its webhook below.',
        queries.latestFailures,
      )
        .overrideByName('webhook', [
          {
            id: 'links',
            value: [
              { title: 'History', url: '/d/hqrelay-projects?var-webhook=${__value.raw}&${__url_time_range}' },
            ],
          },
        ])
        .span(24)
        .height(9),
    )
    .withPanel(
      sqlTable(
        'History of the webhook',
        'Of the webhook whose id is in the box above, up to the end of the time range. Search the logs for its correlation id.',
        queries.webhookHistory,
      )
        .span(24)
        .height(9),
    );
}
