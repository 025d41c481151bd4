import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.fs.Path;
import org.apache.paimon.operation.LocalOrphanFilesClean;
import org.apache.paimon.partition.PartitionExpireStrategy;
import org.apache.paimon.table.FileStoreTable;

/** Expiry of snapshots, changelogs and partitions, and orphan files. */
final class Upkeep {
    private Upkeep() {}

    /** Snapshots, then changelogs, as the options say; how many of both. */
    static List<Integer> expireByOptions(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        CoreOptions options = table.coreOptions();
        int snapshots = table.newExpireSnapshots().config(options.expireConfig()).expire();
        int changelogs =
                options.changelogLifecycleDecoupled()
                        ? table.newExpireChangelog().config(options.expireConfig()).expire()
                        : 0;
        return List.of(snapshots, changelogs);
    }

    /** {@code older_than} as epoch milliseconds: paths of what is, or would be, deleted. */
    static List<String> orphans(Request request) throws Exception {
        LocalOrphanFilesClean clean =
                new LocalOrphanFilesClean(
                        request.storeTable(),
                        request.get("older_than").asLong(),
                        request.flag("dry_run", true));
        List<String> found = new ArrayList<>();
        for (Path path : clean.clean().getDeletedFilesPath()) {
            found.add(path.toUri().getPath());
        }
        return found;
    }

    /** {@code seconds} is how long a partition lives: those that went. */
    static List<Map<String, String>> expirePartitions(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        PartitionExpireStrategy strategy =
                PartitionExpireStrategy.createPartitionExpireStrategy(
                        table.coreOptions(), table.schema().logicalPartitionType(), null, null);
        return table.store()
                .newPartitionExpire(
                        "upkeep",
                        table,
                        Duration.ofSeconds(request.get("seconds").asLong()),
                        Duration.ZERO,
                        strategy)
                .expire(Long.MAX_VALUE);
    }
}
