import type { InstanceEvent } from '../../api/index.ts';
import type { Target } from '../../instances/resolve.ts';
import type { Column, View } from '../../output/output.ts';

/** Cells of the longest documented type, STATUS_CHANGE. */
const TYPE_CELLS = 13;

/** API document: Instance event. */
export const eventView: View<InstanceEvent> = viewOf([]);

/** The events of some machines; of several, each row names its own. */
export function viewOf(machines: readonly Target[]): View<InstanceEvent> {
  const names = new Map(machines.map(({ id, name }) => [id, name]));
  const machine: Column<InstanceEvent> = {
    id: 'instance',
    header: 'INSTANCE',
    least: Math.max(0, ...machines.map(({ name }) => name.length)),
    value: (event) => names.get(event.instance_id ?? '') ?? event.instance_id,
    ...(machines.length > 1 ? {} : { hidden: true }),
  };
  return {
    columns: [
      { id: 'created_at', header: 'TIME', kind: 'time', value: (event) => event.created_at },
      machine,
      {
        id: 'type',
        header: 'TYPE',
        kind: 'severity',
        least: TYPE_CELLS,
        value: (event) => event.type,
      },
      { id: 'message', header: 'MESSAGE', value: (event) => event.message },
      { id: 'id', header: 'ID', value: (event) => event.id, hidden: true },
      {
        id: 'instance_id',
        header: 'INSTANCE ID',
        value: (event) => event.instance_id,
        hidden: true,
      },
      {
        id: 'payload',
        header: 'PAYLOAD',
        value: (event) => (event.payload == null ? null : JSON.stringify(event.payload)),
        hidden: true,
      },
    ],
    id: (event) => event.id,
    empty: 'No event to show.',
  };
}
