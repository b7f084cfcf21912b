import type { SshPorts } from '../ssh/ports.ts';
import type { Answer } from './operations.ts';

/** Instance fields that contain its address. */
interface Shown extends Record<string, unknown> {
  readonly id: string;
  readonly ip_address: string | null;
  readonly connection_info: { readonly endpoints: readonly { readonly url: string }[] } | null;
}

/**
 * Replaces the addresses of an instance with addresses on this computer. SSH gets its own port, and
 * web links become pages of the server at `url`. Keeps other data.
 */
export async function onLoopback(
  answer: Answer,
  { url, ssh }: { readonly url: string; readonly ssh: SshPorts },
): Promise<Answer> {
  const { data } = answer;
  // An instance has both or neither.
  if (!isInstance(data) || data.connection_info === null) return answer;
  const { id, ip_address: ip, connection_info: info } = data;
  const endpoints = info.endpoints.map((endpoint) => ({
    ...endpoint,
    url: endpoint.url.replace(`http://${ip}:`, `${url}/pages/${id}/`),
  }));
  const connection_info = { ...info, endpoints };
  const ssh_port = await ssh.portOf(id);
  return { ...answer, data: { ...data, ip_address: '127.0.0.1', ssh_port, connection_info } };
}

function isInstance(data: unknown): data is Shown {
  return typeof data === 'object' && data !== null && 'ssh_port' in data;
}
