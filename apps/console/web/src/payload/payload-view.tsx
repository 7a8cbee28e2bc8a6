import { useQuery } from '@tanstack/react-query';
import { buttonClass } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Shown } from '../components/states.tsx';
import { Tabs } from '../components/tabs.tsx';
import { formatBytes } from '../display/number-format.ts';
import { hexView } from './hex-view.ts';
import { payloadQuery, type Payload } from './payload-query.ts';
import { prettyJson } from './pretty-json.ts';

const hexBytesMax = 16_384;

/** The bytes of a webhook, as text only: nothing of them is ever rendered. */
export function PayloadView({ webhookLogId, size }: { webhookLogId: string; size: number }) {
  const payload = useQuery(payloadQuery(webhookLogId, size));
  return (
    <Shown query={payload}>{(shown) => <PayloadTabs payload={shown} webhookLogId={webhookLogId} />}</Shown>
  );
}

function PayloadTabs({ payload, webhookLogId }: { payload: Payload; webhookLogId: string }) {
  const { head, text, isWhole, size } = payload;
  const pretty = text !== undefined && isWhole ? prettyJson(text) : undefined;
  const tabs = [
    ...(pretty === undefined ? [] : [{ name: 'Pretty', panel: <Text text={pretty} /> }]),
    ...(text === undefined ? [] : [{ name: 'Raw', panel: <Text text={text} /> }]),
    { name: 'Hex', panel: <Hex head={head} size={size} /> },
  ];
  return (
    <>
      {!isWhole && (
        <p className="mt-0 rounded-md bg-info-soft px-3 py-2 text-info">
          This is the first {formatBytes(head.length)} of {formatBytes(size)}. Download the payload for the
          rest.
        </p>
      )}
      <Tabs
        label="Payload as"
        tabs={tabs}
        actions={
          <div className="flex gap-1">
            {text !== undefined && isWhole && <CopyButton text={pretty ?? text} />}
            <a
              href={`/api/v1/webhooks/${webhookLogId}/payload`}
              download
              className={buttonClass('quiet', true)}
            >
              Download
            </a>
          </div>
        }
      />
    </>
  );
}

function Text({ text }: { text: string }) {
  return text === '' ? <p className="text-muted">The body is empty.</p> : <Scrolled>{text}</Scrolled>;
}

function Hex({ head, size }: { head: Uint8Array; size: number }) {
  return (
    <>
      <Scrolled wraps={false}>{hexView(head.subarray(0, hexBytesMax))}</Scrolled>
      {size > hexBytesMax && (
        <p className="text-muted">
          The first {formatBytes(hexBytesMax)} of {formatBytes(size)}.
        </p>
      )}
    </>
  );
}

function Scrolled({ children, wraps = true }: { children: string; wraps?: boolean }) {
  return (
    <pre
      // A region that scrolls is reachable by keyboard.
      tabIndex={0}
      className={`m-0 max-h-[60vh] overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-relaxed ${
        wraps ? 'wrap-anywhere whitespace-pre-wrap' : ''
      }`}
    >
      {children}
    </pre>
  );
}
