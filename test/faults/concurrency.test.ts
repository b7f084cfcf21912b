import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { stderrLines } from '../support/stderr-lines.ts';
import { NO_FAULT } from './proxy.ts';
import { argvFor, openRig, type Row, recordsOn } from './rig.ts';
import { countOf, record, SOAK } from './tools.ts';

const PROCESSES = 8;

describe('the journal', () => {
  test('stores each instance that eight simultaneous processes create', async (context) => {
    const each = SOAK ? countOf('GPUCLOUD_SOAK_CREATES', 50) : 3;
    const rig = await openRig(PROGRAM);
    try {
      await rig.proxy.arm(NO_FAULT);
      const printed = new Map<string, string>();
      async function work(process: number): Promise<void> {
        for (let at = 0; at < each; at += 1) {
          const name = `p${process}-${at}`;
          const { code, stdout, stderr } = await rig.gpucloud(argvFor('create', name));
          expect(code).toBe(0);
          expect(stderrLines(stderr)).toEqual([]);
          printed.set(name, (JSON.parse(stdout) as { id: string }).id);
        }
      }
      await Promise.all(Array.from({ length: PROCESSES }, (_, at) => work(at)));

      const count = PROCESSES * each;
      const instances = [...rig.books.instances.values()];
      expect(new Map(instances.map(({ name, id }) => [name, id]))).toEqual(printed);
      expect(instances).toHaveLength(count);
      const records = await recordsOn(rig.state);
      expect(records.filter(({ kind }) => kind === 'made')).toHaveLength(count);
      expect(records).toHaveLength(count);

      const { code, stdout, stderr } = await rig.gpucloud(['instances', 'list', '--json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const rows = JSON.parse(stdout) as Row[];
      expect(new Map(rows.map(({ name, id }) => [name, id]))).toEqual(printed);
      record(context, { what: '`create` by eight processes that share a journal', played: count });
    } finally {
      await rig.close();
    }
  }, 1_200_000);
});
