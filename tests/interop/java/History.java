import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.apache.paimon.consumer.Consumer;
import org.apache.paimon.consumer.ConsumerManager;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.Tag;
import org.apache.paimon.utils.Pair;

/** Tags, branches, consumers, statistics, expiry and rollback. */
final class History {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private History() {}

    /** {@code name, snapshot}, and {@code seconds} if it is not kept for ever. */
    static Object tag(Request request) throws Exception {
        long snapshot = request.get("snapshot").asLong();
        if (request.has("seconds")) {
            Duration kept = Duration.ofSeconds(request.get("seconds").asLong());
            request.table().createTag(request.text("name"), snapshot, kept);
        } else {
            request.table().createTag(request.text("name"), snapshot);
        }
        return null;
    }

    /** Snapshot ids by name. */
    static Map<String, Long> tags(Request request) throws Exception {
        Map<String, Long> found = new TreeMap<>();
        for (Pair<Tag, String> tag : request.storeTable().tagManager().tagObjects()) {
            found.put(tag.getRight(), tag.getLeft().id());
        }
        return found;
    }

    /** Seconds that tags are kept, by name. */
    static Map<String, Long> tagLifetimes(Request request) throws Exception {
        Map<String, Long> found = new TreeMap<>();
        for (Pair<Tag, String> tag : request.storeTable().tagManager().tagObjects()) {
            Duration kept = tag.getLeft().getTagTimeRetained();
            if (kept != null && tag.getLeft().getTagCreateTime() != null) {
                found.put(tag.getRight(), kept.getSeconds());
            }
        }
        return found;
    }

    /** {@code name}. */
    static Object deleteTag(Request request) throws Exception {
        request.table().deleteTag(request.text("name"));
        return null;
    }

    /** {@code name, tag}; without a tag it is empty. */
    static Object createBranch(Request request) throws Exception {
        if (request.has("tag")) {
            request.table().createBranch(request.text("name"), request.text("tag"));
        } else {
            request.table().createBranch(request.text("name"));
        }
        return null;
    }

    /** Names. */
    static Object branches(Request request) throws Exception {
        return request.storeTable().branchManager().branches();
    }

    /** {@code name}. */
    static Object deleteBranch(Request request) throws Exception {
        request.table().deleteBranch(request.text("name"));
        return null;
    }

    /** {@code name}. */
    static Object fastForward(Request request) throws Exception {
        request.table().fastForward(request.text("name"));
        return null;
    }

    /** {@code snapshot} or {@code tag}. */
    static Object rollback(Request request) throws Exception {
        if (request.has("tag")) {
            request.table().rollbackTo(request.text("tag"));
        } else {
            request.table().rollbackTo(request.get("snapshot").asLong());
        }
        return null;
    }

    /** Let all snapshots expire but {@code kept}. */
    static Integer expire(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        int kept = request.get("kept").asInt();
        ExpireConfig config =
                ExpireConfig.builder()
                        .snapshotRetainMin(kept)
                        .snapshotRetainMax(kept)
                        .snapshotTimeRetain(Duration.ZERO)
                        .snapshotMaxDeletes(Integer.MAX_VALUE)
                        .build();
        return table.newExpireSnapshots().config(config).expire();
    }

    /** Next snapshots by consumer. */
    static Map<String, Long> consumers(Request request) throws Exception {
        return new TreeMap<>(consumerManager(request).consumers());
    }

    /** {@code name, next}. */
    static Object resetConsumer(Request request) throws Exception {
        Consumer consumer = new Consumer(request.get("next").asLong());
        consumerManager(request).resetConsumer(request.text("name"), consumer);
        return null;
    }

    /** The document that ANALYZE left; null if there is none. */
    static Object statistics(Request request) throws Exception {
        var found = request.storeTable().statistics();
        return found.isPresent() ? MAPPER.readTree(found.get().toJson()) : null;
    }

    private static ConsumerManager consumerManager(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        return new ConsumerManager(table.fileIO(), table.location());
    }
}
