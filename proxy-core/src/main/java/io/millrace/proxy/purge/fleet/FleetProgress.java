package io.millrace.proxy.purge.fleet;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The progress of this node in the fleet's stream of purges: the position, and the latest purges of other nodes that
 * were applied. Each purge has two names: an identifier that all nodes share, and a local stamp. The stamp is a number
 * that this node assigns, and that increases with each purge. An undo or a cancellation from another node contains the
 * shared identifier, and this node applies it to the purge with the local stamp. Not thread-safe.
 */
public final class FleetProgress {
    /** Limit of remembered purges. An undo of an older purge has no effect on this node. */
    public static final int PURGES_MAX = 4096;

    private final LinkedHashMap<String, Long> stamps = new LinkedHashMap<>();
    private @Nullable FleetPosition position;
    private long version;

    /** Returns the position; null before the first message. */
    public @Nullable FleetPosition position() {
        return position;
    }

    /** Returns the number of changes of the position. */
    public long version() {
        return version;
    }

    /** Sets the position. */
    public void advance(FleetPosition to) {
        version++;
        position = to;
    }

    /** Sets the position from the journal, unless a later position is known. */
    public void restore(long numberOfChanges, FleetPosition found) {
        if (numberOfChanges > version) {
            version = numberOfChanges;
            position = found;
        }
    }

    /** Remembers the local stamp of a purge by its shared identifier. */
    public void add(String sharedId, long stamp) {
        stamps.remove(sharedId);
        stamps.put(sharedId, stamp);
        if (stamps.size() > PURGES_MAX) {
            var oldest = stamps.entrySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /** Returns the local stamp of a purge; 0 if it is not known. */
    public long stamp(String sharedId) {
        return stamps.getOrDefault(sharedId, 0L);
    }

    /** Returns the shared identifier of a purge by its local stamp; null if another node did not request it. */
    public @Nullable String sharedId(long stamp) {
        for (Map.Entry<String, Long> entry : stamps.entrySet()) {
            if (entry.getValue() == stamp) {
                return entry.getKey();
            }
        }
        return null;
    }

    /** Returns the remembered purges, oldest first. */
    public Map<String, Long> purges() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(stamps));
    }
}
