import { Button } from '../components/button.tsx';
import { offsetOf, zoneNameOf } from '../display/time-format.ts';
import { useNow } from '../display/now.ts';
import { useZone } from '../display/zone.tsx';

/** Shows the zone of all times, and changes it. */
export function ZoneSwitch() {
  const { zone, setZone } = useZone();
  const localOffset = offsetOf(zoneNameOf('local'), useNow());
  const label = zone === 'utc' ? 'UTC' : `Local (${localOffset})`;
  return (
    <Button
      look="quiet"
      small
      title={zone === 'utc' ? 'Show times in your zone' : 'Show times in UTC'}
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
    >
      <span className="sr-only">Times are shown in </span>
      {label}
    </Button>
  );
}
