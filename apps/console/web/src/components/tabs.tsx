import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

const tab =
  'rounded-md border border-transparent px-2.5 py-1 text-sm text-muted hover:text-ink aria-selected:bg-raised aria-selected:text-ink aria-selected:font-medium';

/** Panels of which one is shown; arrow keys move between the tabs. */
export function Tabs({
  label,
  tabs,
  actions,
}: {
  label: string;
  tabs: readonly { name: string; panel: ReactNode }[];
  actions?: ReactNode;
}) {
  return (
    <Base.Root defaultValue={tabs[0]?.name}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <Base.List aria-label={label} className="flex flex-wrap gap-1">
          {tabs.map(({ name }) => (
            <Base.Tab key={name} value={name} className={tab}>
              {name}
            </Base.Tab>
          ))}
        </Base.List>
        {actions}
      </div>
      {tabs.map(({ name, panel }) => (
        <Base.Panel key={name} value={name}>
          {panel}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
