import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryWriter;
import org.apache.paimon.fs.Path;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.migrate.FileMetaUtils;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.types.RowType;

/** Files that another system wrote are moved into an append table, as Hive's are when migrated. */
final class Importing {
    private Importing() {}

    /** {@code format, folders [[folder, [texts of partition values]], ...]}: one commit. */
    static Long folders(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        RowType type = table.schema().projectedLogicalRowType(table.schema().partitionKeys());
        List<BinaryWriter.ValueSetter> setters = new ArrayList<>();
        type.getFieldTypes().forEach(one -> setters.add(BinaryWriter.createValueSetter(one)));
        List<CommitMessage> messages = new ArrayList<>();
        for (JsonNode folder : request.get("folders")) {
            List<String> texts = new ArrayList<>();
            folder.get(1).forEach(text -> texts.add(text.asText()));
            String ofNull = table.coreOptions().partitionDefaultName();
            BinaryRow partition = FileMetaUtils.writePartitionValue(type, texts, setters, ofNull);
            Path target = table.store().pathFactory().bucketPath(partition, 0);
            table.fileIO().mkdirs(target);
            List<DataFileMeta> files =
                    FileMetaUtils.construct(
                            table.fileIO(),
                            request.text("format"),
                            folder.get(0).asText(),
                            table,
                            file -> true,
                            target,
                            new HashMap<>());
            messages.add(FileMetaUtils.createCommitMessage(partition, -1, files));
        }
        try (BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
            commit.commit(messages);
        }
        return table.snapshotManager().latestSnapshotId();
    }
}
