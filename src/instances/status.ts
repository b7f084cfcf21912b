import { gpucloud } from '../output/shell-line.ts';
import { instanceStatus } from '../rules/statuses.ts';

/**
 * Returns a hint with the next command for an instance in the wrong status. `instance` is a name or
 * ID as typed. `ssh` means that the user wants to connect.
 */
export function nextStep(status: string, instance: string, wanted?: 'ssh'): string {
  const { becomes, next } = instanceStatus(status);
  const command = (...words: string[]) => gpucloud('instances', next, ...words);
  switch (next) {
    case 'wait': {
      const goal = becomes === 'ACTIVE' ? wanted : becomes?.toLowerCase();
      return `wait for it: ${command(instance, ...(goal === undefined ? [] : ['--for', goal]))}`;
    }
    case 'list':
      return `see your instances: ${command()}`;
    case 'get':
      return `it is running: ${command(instance)}`;
    case 'start':
      return `start the instance (this bills): ${command(instance, wanted === 'ssh' ? '--wait=ssh' : '--wait')}`;
    case 'reorder':
      return `rent the instance again: ${command(instance, 'NEW-NAME')}`;
    case 'events':
      return `see what happened: ${command(instance)}`;
  }
}
