/** The time zone of this browser: "Europe/Vienna". */
export const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
