// Written by tools/view_types.py from paimonlab/notebook/views.

export interface Timeline {
  kind: "timeline";
  table: string;
  points: (TimelinePoint)[];
  olderCount: number;
}

export interface TimelinePoint {
  id: number;
  commitKind: string;
  commitUser: string;
  timeMillis: number | null;
  deltaRecordCount: number | null;
  totalRecordCount: number | null;
  changelogRecordCount: number | null;
  schemaId: number;
  isNewSchema: boolean;
  tags: (string)[];
  missingBefore: number;
}
