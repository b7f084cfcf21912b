const NUMBERS =
  'seconds|age_seconds|overdue_seconds|grace|renting|copying|setup|command|running|fetching|ssh_port';

/** Replaces what the computer's clock measures, and what the length of a temporary path cuts. */
export function measured(text: string): string {
  return (
    text
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d+Z/g, 'TIME')
      .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( [+-]\d\d:\d\d)?/g, 'TIME')
      .replaceAll(new RegExp(`"(${NUMBERS})":( ?)[\\d.]+`, 'g'), '"$1":$2"N"')
      .replaceAll(/^(\w*seconds): +\d+$/gm, '$1: N')
      .replaceAll(/("(?:explained[a-z_]*|cost_estimate)":) ?"[\d.]+"/g, '$1"N"')
      .replaceAll(/\b\d+(\.\d+)? (s|ms|min)\b/g, 'N $2')
      .replaceAll(/\b\d+\.\d\d ₽/g, 'N ₽')
      // Phases of less than a second are not shown.
      .replaceAll(/ N ₽: N (s|min) [a-z, N]+\./g, ' N ₽.')
      .replaceAll(/^(It took|phases:) +N s .*\n/gm, '')
      // A slow computer ends a command with the next signal.
      .replaceAll(/\bexit code 1(30|37|43)\b/g, 'exit code SIGNAL')
      .replaceAll(/(exit_code": ?)1(30|37|43)\b/g, '$1"SIGNAL"')
      // Which of two instances is first.
      .replaceAll(/^(Fetching from|Terminating) job-\d.*\n/gm, '')
      .replaceAll(/(gpucloud-here-)\w{6}/g, '$1…')
      // As wide as a path.
      .replaceAll(/\bLOCAL +FILES/g, 'LOCAL  FILES')
      // The column RAN.
      .replaceAll(/TIME +\d+ /g, 'TIME N ')
      .replaceAll(/\.gpucloud-[\da-f-]{36}/g, '.gpucloud-UID')
      .replaceAll(/sh -c '[^\n]{0,60}?(?:…|FOLDER[^\n']{0,20}')/g, "sh -c '…")
      .replaceAll(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}(?=\.|","service)/g, 'UID')
  );
}
