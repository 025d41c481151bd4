// Written by tools/view_types.py from paimonlab/notebook/views.

export interface Advice {
  code: string;
  text: string;
  action: string;
}

export interface BucketChange {
  partition: string;
  bucket: number;
  read: FileSum;
  written: FileSum;
  moved: FileSum;
}

export interface Call {
  label: string;
  sql: string;
  python: string;
}

export interface ChangeCount {
  place: string;
  inserts: number;
  updates: number;
  deletes: number;
}

export interface ChangeList {
  kind: "changes";
  table: string;
  start: string;
  end: string;
  source: "changelog" | "delta" | "diff";
  note: string;
  columns: (string)[];
  key: (number)[];
  floats: (number)[];
  total: ChangeCount;
  partitions: (ChangeCount)[];
  buckets: (ChangeCount)[];
  rows: (ChangedRow)[];
  rowCount: number;
  fileCount: number;
  hasSnapshots?: boolean;
}

export interface ChangedRow {
  mark: "+" | "-" | "~";
  kind: string;
  partition: string;
  bucket: number | null;
  cells: (string | null)[];
  old?: ([number, string | null])[];
}

export interface Check {
  name: string;
  status: "error" | "info" | "ok" | "warning";
  found: string;
  fix?: string;
}

export interface Compaction {
  kind: "compaction";
  table: string;
  snapshotId: number | null;
  hasLevels: boolean;
  runs: (CompactionRun)[];
  runCount: number;
  chosenId: number | null;
  firstId: number | null;
  lastId: number | null;
  appendedBytes: number | null;
  compactedBytes: number | null;
  writeAmplification: number | null;
  spaceAmplification: number | null;
  picks: (Pick)[];
  pickCount: number;
  fullCount: number;
  lookedAt: number;
  bucketCount: number;
  untouched: (Untouched)[];
  untouchedCount: number;
  calls: (Call)[];
  notes: (string)[];
}

export interface CompactionRun {
  snapshotId: number;
  timeMillis: number | null;
  commitUser: string;
  read: FileSum;
  written: FileSum;
  moved: FileSum;
  droppedRows: number;
  changelogRows: number | null;
  levels: (LevelSum)[];
  leastMillis: number | null;
  bucketCount: number;
  buckets: (BucketChange)[];
}

export interface DataFileView {
  kind: "file";
  table: string;
  snapshotId: number;
  file: string;
  partition: string;
  bucket: number;
  level: number | null;
  schemaId: number;
  minKey: string | null;
  maxKey: string | null;
  minSequenceNumber: number;
  maxSequenceNumber: number;
  format: string;
  version: string;
  writtenBy: string;
  partName: string;
  rows: number;
  entryRows: number;
  bytes: number | null;
  entryBytes: number | null;
  partCount: number;
  columns: (FileColumn)[];
  parts: (FilePartNode)[];
  properties: ([string, string])[];
  firstRows: FileRows;
}

export interface Diff {
  kind: "diff";
  table: string;
  before: DiffSide;
  after: DiffSide;
  added: Sums;
  removed: Sums;
  kept: Sums;
  groups: (DiffGroup)[];
  groupCount: number;
  files: (DiffFile)[];
  fileCount: number;
  partitionsAdded: (string)[];
  partitionsAddedCount: number;
  partitionsRemoved: (string)[];
  partitionsRemovedCount: number;
  schema: (SchemaDifference)[];
  rowsAre: string;
  hasSnapshots?: boolean;
}

export interface DiffFile {
  name: string;
  isAdded: boolean;
  partition: string;
  bucket: number;
  level: number | null;
  rowCount: number;
  fileBytes: number | null;
}

export interface DiffGroup {
  partition: string;
  bucket: number;
  level: number | null;
  added: Sums;
  removed: Sums;
}

export interface DiffSide {
  snapshotId: number;
  timeMillis: number | null;
  schemaId: number;
  totalRecordCount: number | null;
  live: Sums;
}

export interface Doctor {
  kind: "doctor";
  checks: (Check)[];
}

export interface EntryNode {
  change: string;
  file: string;
  partition: string;
  bucket: number;
  level: number;
  rows: number;
  bytes: number | null;
  minKey: string | null;
  maxKey: string | null;
  low: (string | null)[];
  high: (string | null)[];
  nulls: (number | null)[];
}

export interface EntrySums {
  files: number;
  rows: number;
  bytes: number | null;
}

export interface FileColumn {
  name: string;
  type: string;
  compression: string;
  encodings: (string)[];
  storedBytes: number | null;
  plainBytes: number | null;
  low: string | null;
  high: string | null;
  nulls: number | null;
  pages: number | null;
  checksums: number | null;
  wrong: number | null;
}

export interface FileMap {
  kind: "files";
  table: string;
  snapshotId: number | null;
  weight: string;
  fileCount: number;
  rowCount: number;
  bytes: number | null;
  partitionCount: number;
  bucketCount: number;
  tileCount: number;
  bins: (SizeBin)[];
  advice: (Advice)[];
  tiles: (Tile)[];
  rowsAre: string;
}

export interface FilePartNode {
  firstRow: number;
  rows: number;
  storedBytes: number | null;
  columns: (FileColumn)[];
}

export interface FileRows {
  offset: number;
  columns: (string)[];
  cells: ((string | null)[])[];
  problem: string;
}

export interface FileSum {
  files: number;
  bytes: number | null;
  rows: number;
}

export interface FilesRead {
  fileCount: number;
  ofFiles: number;
  ofRows: number | null;
}

export interface Finding {
  severity: "error" | "warning";
  file: string;
  referrer: string;
  problem: string;
  advice: string;
}

export interface Fsck {
  kind: "fsck";
  table: string;
  summary: string;
  findings: (Finding)[];
}

export interface Health {
  kind: "health";
  title: string;
  tables: (TableHealth)[];
  worst: string;
  lookedForOrphans: boolean;
}

export interface HealthFinding {
  code: string;
  severity: "error" | "info" | "warning";
  message: string;
  measured: number | null;
  threshold: number;
  unit: string;
  where?: string;
  sql?: string;
  python?: string;
  shell?: string;
}

export interface Heatmap {
  kind: "heatmap";
  table: string;
  snapshotId: number | null;
  measure: string;
  measures: (string)[];
  columns: (HeatmapColumn)[];
  rows: (HeatmapRow)[];
  rest: HeatmapRow | null;
  partitionCount: number;
  bucketCount: number;
  newestMillis: number | null;
  skews: (Skew)[];
  rowsAre: string;
}

export interface HeatmapColumn {
  first: number;
  last: number;
}

export interface HeatmapRow {
  partition: string | null;
  partitionCount: number;
  bytes: (number | null)[];
  files: (number | null)[];
  rows: (number | null)[];
  level0: (number | null)[];
  updatedMillis: (number | null)[];
}

export interface IndexFileNode {
  name: string;
  type: string;
  partition: string;
  bucket: number;
  rows: number;
  bytes: number | null;
  vectors: (VectorNode)[];
  hiddenCount: number;
}

export interface IndexNode {
  name: string;
  isShared: boolean;
  fileCount: number;
  deletedRows: number | null;
  files: (IndexFileNode)[];
}

export interface IngestCommit {
  epoch: number;
  rows: number;
  atMillis: number | null;
  lagMillis: number | null;
}

export interface IngestEntry {
  name: string;
  source: string;
  phase: string;
  isRunning: boolean;
  epoch: number;
  position: string;
  rows: number;
  dead: number;
  pendingRows: number;
  pendingBytes: number;
  rowsPerSecond: number | null;
  lagMillis: number | null;
  behind: number | null;
  behindUnit: string;
  committedMillis: number | null;
  snapshotRows: number | null;
  snapshotTotal: number | null;
  tables: (IngestTable)[];
  commits: (IngestCommit)[];
  events: (IngestEvent)[];
  warnings: (string)[];
  error: string | null;
}

export interface IngestEvent {
  atMillis: number | null;
  what: string;
  table: string;
  text: string;
  columns: string;
}

export interface IngestJobs {
  kind: "ingest";
  jobs: (IngestEntry)[];
  isOne: boolean;
}

export interface IngestTable {
  name: string;
  sources: (string)[];
  rows: number;
  rowsPerSecond: number | null;
  snapshotId: number | null;
  stopped: string | null;
  skipped: number;
}

export interface LevelSum {
  level: number;
  before: FileSum;
  after: FileSum;
}

export interface Log {
  kind: "log";
  table: string;
  entries: (LogEntry)[];
  olderCount: number;
  rowsAre: string;
}

export interface LogEntry {
  version: number;
  timeMillis: number | null;
  user: string;
  identifier: number | null;
  operation: string;
  commitKind: string;
  metrics: Record<string, number>;
  writtenRows: number | null;
  deletedRows: number | null;
  schemaId: number;
  tags: (string)[];
  properties: Record<string, string>;
  writerVersion: string | null;
}

export interface Lsm {
  kind: "lsm";
  table: string;
  snapshotId: number | null;
  hasLevels: boolean;
  axis: "keys" | "order";
  compactionTrigger: number;
  stopTrigger: number;
  levelCount: number;
  targetFileBytes: number;
  buckets: (LsmBucket)[];
  bucketCount: number;
  snapshotCount: number;
  notes: (string)[];
}

export interface LsmBucket {
  partition: string;
  bucket: number;
  fileCount: number;
  bytes: number | null;
  rowCount: number;
  deleteCount: number;
  hiddenCount: number | null;
  level0Count: number;
  runCount: number;
  backlogRatio: number;
  placeCount: number;
  files: (LsmFile)[];
  steps: (LsmStep)[];
  earlierCount: number;
  calls?: (Call)[];
}

export interface LsmFile {
  name: string;
  count: number;
  level: number;
  low: number;
  high: number;
  bytes: number | null;
  rows: number;
  deletes: number | null;
  hidden: number | null;
  born: number;
  died: number;
  minKey: string;
  maxKey: string;
  minSequence: number;
  maxSequence: number;
  schemaId: number;
  source: string;
  createdMillis: number | null;
}

export interface LsmStep {
  snapshotId: number | null;
  commitKind: string;
  timeMillis: number | null;
  runCount: number;
  level0Count: number;
  fileCount: number;
  rowCount: number;
  bytes: number | null;
  caption: string;
  watch: string;
}

export interface ManifestListNode {
  role: string;
  name: string;
  bytes: number | null;
  added: EntrySums;
  deleted: EntrySums;
  manifests: (ManifestNode)[];
  hiddenCount: number;
}

export interface ManifestNode {
  name: string;
  bytes: number | null;
  isShared: boolean;
  schemaId: number;
  minPartition: string | null;
  maxPartition: string | null;
  added: EntrySums;
  deleted: EntrySums;
  entries: (EntryNode)[];
}

export interface ManifestTree {
  kind: "manifests";
  table: string;
  snapshotId: number | null;
  commitKind: string;
  parentId: number | null;
  sharedCount: number;
  manifestCount: number;
  columns: (string)[];
  columnCount: number;
  entryCount: number;
  shownCount: number;
  lists: (ManifestListNode)[];
  index: IndexNode | null;
}

export interface Pick {
  partition: string;
  bucket: number;
  rule: string;
  why: string;
  numbers: string;
  outputLevel: number | null;
  files: number;
  bytes: number | null;
  rows: number;
  ofFiles: number;
}

export interface Profile {
  kind: "profile";
  title: string;
  table: string;
  rowCount: number;
  columns: (ProfileColumn)[];
  notes: (string)[];
  sample?: FilesRead | null;
  isEmpty?: boolean;
}

export interface ProfileColumn {
  name: string;
  type: string;
  isNumber: boolean;
  hasFacts: boolean;
  nullCount: number;
  nanCount: number;
  infiniteCount: number;
  distinctCount: number | null;
  isDistinctExact: boolean;
  low: string | null;
  high: string | null;
  mean: number | null;
  standardDeviation: number | null;
  quantiles: (string)[];
  isSampled: boolean;
  bins: (number)[];
  binStarts: (string)[];
  top: ([string, number])[];
  topError: number;
  shortest: number | null;
  longest: number | null;
  meanLength: number | null;
  longestText: string | null;
  allNulls?: number | null;
  allLow?: string | null;
  allHigh?: string | null;
}

export interface ResultCells {
  exact: ([number, string])[];
  cut: (number)[];
  trees: unknown | null;
}

export interface ResultColumn {
  name: string;
  type: string;
  value: "binary" | "boolean" | "date" | "decimal" | "double" | "float" | "local timestamp" | "nested" | "other" | "text" | "timestamp" | "whole";
  isNumber: boolean;
  nullCount: number;
  nanCount: number;
  distinctCount: number | null;
  low: string | null;
  high: string | null;
  bins: (number)[];
  top: ([string, number])[];
  ranks: (number)[] | null;
  zone: string | null;
  cells: ResultCells;
}

export interface ResultRows {
  kind: "result";
  columns: (ResultColumn)[];
  rows: ((string | null)[])[];
  rowCount: number;
  hasMoreRows: boolean;
  summarisedCount: number;
  footer: string;
}

export interface RowFile {
  name: string;
  level: number | null;
  place: string;
}

export interface RowLife {
  kind: "row";
  table: string;
  where: string;
  columns: (string)[];
  steps: (RowStep)[];
  lookedAt: number;
  olderCount: number;
}

export interface RowStep {
  snapshotId: number;
  commitKind: string;
  timeMillis: number | null;
  tags: (string)[];
  what: string;
  earliestId: number;
  unknown: string;
  values: (string | null)[];
  changed: (string)[];
  files: (RowFile)[];
}

export interface SchemaColumn {
  fieldId: number;
  name: string;
  depth: number;
  typeText: string;
  isNullable: boolean;
  default: string | null;
  comment: string | null;
}

export interface SchemaDifference {
  aspect: "column" | "comment" | "default" | "name" | "nullability" | "option" | "order" | "partition keys" | "primary key" | "table comment" | "type";
  name: string;
  fieldId: number | null;
  before: string | null;
  after: string | null;
}

export interface SchemaHistory {
  kind: "schemas";
  table: string;
  versions: (SchemaVersion)[];
}

export interface SchemaUse {
  firstSnapshot: number;
  lastSnapshot: number;
  snapshotCount: number;
}

export interface SchemaVersion {
  id: number;
  timeMillis: number | null;
  differences: (SchemaDifference)[];
  columns: (SchemaColumn)[];
  primaryKeys: (string)[];
  partitionKeys: (string)[];
  comment: string | null;
  options: Record<string, string>;
  usedBy: SchemaUse | null;
}

export interface Simulation {
  writeAmplification: number;
  readAmplification: number;
  spaceAmplification: number;
  compactionCount: number;
  mostRuns: number;
  stopCount: number;
  writeCurve: (number)[];
  readCurve: (number)[];
  spaceCurve: (number)[];
}

export interface Simulator {
  kind: "simulator";
  table: string;
  history: string;
  flushCount: number;
  flushedBytes: number;
  points: (number)[];
  sliders: (SimulatorSlider)[];
  simulations: (Simulation)[];
  notes: (string)[];
}

export interface SimulatorSlider {
  option: string;
  values: (number)[];
  own: number;
}

export interface SizeBin {
  name: string;
  files: number;
  rows: number;
  bytes: number | null;
}

export interface Skew {
  measure: string;
  maximum: number;
  median: number;
  ratio: number | null;
  gini: number | null;
}

export interface StatementEntry {
  number: number;
  timeMillis: number | null;
  alias: string;
  sql: string;
  rowCount: number | null;
  snapshots: string;
  durationMillis: number | null;
  status: string;
}

export interface Statements {
  kind: "statements";
  entries: (StatementEntry)[];
  olderCount: number;
}

export interface StreamEntry {
  id: string;
  name: string;
  source: string;
  sink: string;
  state: "ended" | "failed" | "running";
  batch: number | null;
  rows: number | null;
  rowsPerSecond: number | null;
  snapshotsBehind: number | null;
  millisBehind: number | null;
  stateRows: number | null;
  stateBytes: number | null;
  watermark: string | null;
  error: string | null;
}

export interface StreamList {
  kind: "streams";
  streams: (StreamEntry)[];
  newest?: StreamRows | null;
}

export interface StreamRows {
  columns: (string)[];
  rows: ((string)[])[];
}

export interface Sums {
  fileCount?: number;
  rowCount?: number;
  fileBytes?: number;
}

export interface TableEntry {
  database: string;
  table: string;
  primaryKeys: (string)[];
  partitionKeys: (string)[];
  columnCount: number;
  snapshotId: number | null;
}

export interface TableHealth {
  table: string;
  snapshotId: number | null;
  fileCount: number;
  totalBytes: number | null;
  recordCount: number;
  snapshotCount: number;
  manifestCount: number;
  level0Files: number;
  findings: (HealthFinding)[];
  lookedForOrphans?: boolean;
  rowsAre: string;
  problem?: string;
}

export interface TableList {
  kind: "tables";
  databases: (string)[];
  tables: (TableEntry)[];
}

export interface Tile {
  parent: number;
  kind: string;
  name: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
  files: number;
  rows: number;
  bytes: number | null;
  level: number | null;
}

export interface Timeline {
  kind: "timeline";
  table: string;
  points: (TimelinePoint)[];
  groups: (TimelineGroup)[];
  groupedBy: "day" | "number" | null;
  expiredCount: number;
  branches: (TimelineBranch)[];
  branchCount: number;
  otherTags: Record<string, number>;
  otherConsumers: Record<string, number>;
  rowsAre: string;
}

export interface TimelineBranch {
  name: string;
  points: (TimelinePoint)[];
  olderCount: number;
  forkedAt: number | null;
}

export interface TimelineGroup {
  firstId: number;
  lastId: number;
  snapshotCount: number;
  missingCount?: number;
  beginMillis?: number | null;
  endMillis?: number | null;
  kinds: Record<string, number>;
  deltaRecordCount?: number | null;
  totalRecordCount?: number | null;
  changelogRecordCount?: number;
  watermarkMillis?: number | null;
  schemaId: number;
  newSchemas?: (number)[];
  tags?: Record<string, number>;
  consumers?: Record<string, number>;
  fileCount?: number | null;
  fileBytes?: number | null;
}

export interface TimelinePoint {
  id: number;
  commitKind: string;
  commitUser: string;
  commitIdentifier?: number | null;
  timeMillis?: number | null;
  deltaRecordCount?: number | null;
  totalRecordCount?: number | null;
  changelogRecordCount?: number | null;
  watermarkMillis?: number | null;
  schemaId: number;
  isNewSchema?: boolean;
  tags?: (string)[];
  consumers?: (string)[];
  missingBefore?: number;
  manifestCount?: number | null;
  fileCount?: number | null;
  fileBytes?: number | null;
  addedFileCount?: number | null;
  deletedFileCount?: number | null;
  writtenRows?: number | null;
  deletedRows?: number | null;
}

export interface Travel {
  kind: "travel";
  table: string;
  sql: string;
  stops: (TravelStop)[];
  olderCount: number;
  steps: (TravelStep)[];
}

export interface TravelStep {
  snapshotId: number;
  rowCount: number;
  columns: (string)[];
  rows: ((string | null)[])[];
  floats?: (number)[];
  hiddenColumns?: number;
}

export interface TravelStop {
  snapshotId: number;
  commitKind: string;
  timeMillis: number | null;
  tags: (string)[];
}

export interface Untouched {
  partition: string;
  bucket: number;
  held: FileSum;
}

export interface VectorNode {
  dataFile: string;
  bytes: number | null;
  deletedRows: number | null;
}

export interface Watch {
  kind: "watch";
  table: string;
  state: "failed" | "stopped" | "watching";
  error?: string | null;
  hasLevels: boolean;
  commits: (WatchedCommit)[];
  seenCount: number;
  levels: (WatchedLevel)[];
  rowCount: number | null;
  newest?: WatchedRows | null;
  rowsAre: string;
  note?: string;
}

export interface WatchedCommit {
  snapshotId: number;
  timeMillis: number | null;
  commitKind: string;
  user: string;
  writtenRows: number;
  deletedRows: number;
  changelogRows: number | null;
  addedFiles: number;
  deletedFiles: number;
  addedBytes: number | null;
}

export interface WatchedLevel {
  level: number;
  fileCount: number;
  rowCount: number;
  fileBytes: number | null;
}

export interface WatchedRows {
  snapshotId: number;
  columns: (string)[];
  rows: ((string | null)[])[];
}
