import { gpucloud } from '../output/shell-line.ts';
import { instanceStatus } from '../rules/statuses.ts';

/**
 * Returns a hint with the next command for an instance in the wrong status. `instance` is a name or
 * ID as typed. `ssh` means that the user wants to connect.
 */
export function nextStep(status: string, instance: string, wanted?: 'ssh'): string {
  switch (instanceStatus(status).becomes) {
    case 'ACTIVE':
      return `wait for it: ${gpucloud('instances', 'wait', instance, ...(wanted === 'ssh' ? ['--for', 'ssh'] : []))}`;
    case 'STOPPED':
      return `wait for it: ${gpucloud('instances', 'wait', instance, '--for', 'stopped')}`;
    case 'TERMINATED':
      return `see your instances: ${gpucloud('instances', 'list')}`;
    case undefined:
      return atRest(status, instance, wanted);
  }
}

function atRest(status: string, instance: string, wanted: 'ssh' | undefined): string {
  switch (status) {
    case 'ACTIVE':
      return `it is running: ${gpucloud('instances', 'get', instance)}`;
    case 'STOPPED':
      return `start the instance (this bills): ${gpucloud('instances', 'start', instance, wanted === 'ssh' ? '--wait=ssh' : '--wait')}`;
    case 'TERMINATED':
      return `rent the instance again: ${gpucloud('instances', 'reorder', instance, 'NEW-NAME')}`;
    default:
      return `see what happened: ${gpucloud('instances', 'events', instance)}`;
  }
}
