import { createContext, use, useState, type ReactNode } from 'react';
import { formatRelative, formatTime, zoneNameOf, type TimeStyle, type Zone } from './time-format.ts';
import { readStored, store } from './stored.ts';
import { useNow } from './now.ts';

const ZoneContext = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({
  zone: 'local',
  setZone: () => undefined,
});

export function ZoneProvider({ children }: { children: ReactNode }) {
  const [zone, setZone] = useState<Zone>(() => (readStored('zone') === 'utc' ? 'utc' : 'local'));
  const choose = (chosen: Zone) => {
    store('zone', chosen);
    setZone(chosen);
  };
  return <ZoneContext value={{ zone, setZone: choose }}>{children}</ZoneContext>;
}

export const useZone = () => use(ZoneContext);

/** Turns times into text in the zone that the reader chose. */
export function useTimeFormat(): (at: string | number | Date, style: TimeStyle) => string {
  const zoneName = zoneNameOf(useZone().zone);
  return (at, style) => formatTime(at, style, zoneName);
}

/** A time, with its exact form and zone where the pointer rests. */
export function Time({ at, form = 'moment' }: { at: string; form?: TimeStyle }) {
  const format = useTimeFormat();
  return (
    <time dateTime={at} title={format(at, 'exact')} className="whitespace-nowrap tabular-nums">
      {format(at, form)}
    </time>
  );
}

/** How long ago or ahead a time is. */
export function RelativeTime({ at }: { at: string }) {
  const format = useTimeFormat();
  const now = useNow();
  return (
    <time dateTime={at} title={format(at, 'exact')} className="whitespace-nowrap">
      {formatRelative(at, now)}
    </time>
  );
}
