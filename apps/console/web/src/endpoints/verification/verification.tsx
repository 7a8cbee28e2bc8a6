import { useQuery } from '@tanstack/react-query';
import { presets } from '@hqrelay/domain/providers/presets';
import type { Project } from '../../api/entities.ts';
import { read } from '../../api/read.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Card } from '../../components/page.tsx';
import { Shown } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { languages, signatureHeaders, verificationCode } from './verification-code.ts';

/** Code that verifies the requests that this endpoint receives. */
export function Verification({ projectId }: { projectId: string }) {
  const project = useQuery(read('get /api/v1/projects/{projectId}', { params: { projectId } }));
  return (
    <Card title="Verify the signature in your code">
      <Shown query={project}>{(found) => <Code isPrefixed={sendsStandardHeaders(found)} />}</Shown>
    </Card>
  );
}

/** Whether the provider itself sends `webhook-*` headers: those of the relay are then prefixed. */
function sendsStandardHeaders({ provider, scheme }: Pick<Project, 'provider' | 'scheme'>): boolean {
  const preset = presets.find(({ name }) => name === provider);
  return JSON.stringify(scheme ?? preset?.schemes ?? []).includes('header:webhook-');
}

function Code({ isPrefixed }: { isPrefixed: boolean }) {
  const names = signatureHeaders(isPrefixed);
  return (
    <>
      <p className="mt-0 mb-3 text-muted">
        Verify the raw bytes, before any parser touches them. Answer 2xx within the timeout; deliver nothing
        twice by the id in <code className="font-mono">{names.id}</code>, which stays the same in every
        attempt and replay.
      </p>
      <Tabs
        label="Language"
        tabs={languages.map((language) => {
          const code = verificationCode(language, names);
          return { name: language, panel: <CodeBlock code={code} /> };
        })}
      />
    </>
  );
}

function CodeBlock({ code }: { code: string }) {
  return (
    <div className="relative">
      <div className="absolute top-1 right-1">
        <CopyButton text={code} look="plain" />
      </div>
      <pre
        tabIndex={0}
        className="m-0 max-h-[28rem] overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-relaxed"
      >
        {code}
      </pre>
    </div>
  );
}
