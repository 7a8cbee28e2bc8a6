import { Menu } from '@base-ui/react/menu';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Me } from '../api/entities.ts';
import { useAction } from '../api/use-action.ts';
import { buttonClass } from '../components/button.tsx';
import { useTheme, type Theme } from '../display/theme.ts';

const item =
  'flex w-full cursor-pointer items-center justify-between gap-4 rounded px-2.5 py-1.5 text-sm text-ink no-underline outline-none data-highlighted:bg-raised';
const themes: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' };

export function AccountMenu({ me }: { me: Me }) {
  const [theme, setTheme] = useTheme();
  const client = useQueryClient();
  const signOut = useAction('delete /api/v1/sessions/current', {
    // Nothing that was read stays in the memory of the page.
    onDone: () => void client.resetQueries(),
  });
  const [header, setHeader] = useState<HTMLElement | null>(null);
  return (
    <div ref={setHeader}>
      <Menu.Root>
        <Menu.Trigger className={buttonClass('quiet', true)}>Menu</Menu.Trigger>
        <Menu.Portal container={header}>
          <Menu.Positioner align="end" sideOffset={6} className="z-30">
            <Menu.Popup className="w-60 rounded-lg border border-line bg-surface p-1.5 shadow-xl outline-none">
              <Account me={me} />
              <PageItems me={me} />
              {me.kind === 'session' && (
                <Menu.Item className={item} onClick={() => signOut.mutate({})}>
                  Sign out
                </Menu.Item>
              )}
              <ColourItems theme={theme} setTheme={setTheme} />
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}

function Account({ me }: { me: Me }) {
  return (
    <div className="border-b border-line px-2.5 pt-1 pb-2">
      <p className="m-0 truncate font-medium">{me.name}</p>
      <p className="m-0 text-xs text-muted">
        {me.role}
        {me.projectId === null ? ' of all projects' : ' of one project'}
        {me.hidePayloads && ', payloads hidden'}
      </p>
    </div>
  );
}

function PageItems({ me }: { me: Me }) {
  return (
    <>
      <Menu.Item className={item} render={<Link to="/">Projects</Link>} />
      <Menu.Item className={item} render={<Link to="/admin-log">Admin log</Link>} />
      {me.role === 'admin' && <Menu.Item className={item} render={<Link to="/access">Access</Link>} />}
      <Menu.Item
        className={item}
        // A tab of its own: no page may show the reader of the API in a frame.
        render={
          <a href="/api/docs" target="_blank" rel="noreferrer">
            HTTP API
          </a>
        }
      />
    </>
  );
}

function ColourItems({ theme, setTheme }: { theme: Theme; setTheme: (theme: Theme) => void }) {
  return (
    <Menu.RadioGroup
      value={theme}
      onValueChange={(value) => setTheme(value as Theme)}
      aria-label="Colours"
      className="border-t border-line pt-1.5"
    >
      {Object.entries(themes).map(([value, label]) => (
        <Menu.RadioItem key={value} value={value} closeOnClick={false} className={item}>
          {label}
          <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}
