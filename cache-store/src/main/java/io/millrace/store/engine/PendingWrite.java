package io.millrace.store.engine;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.Appended;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.ResidentObject;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A write of a pending change to the log and the index of a volume.
 *
 * <p>The implementations differ in how the write passes through the volume's queue: alone, or in one batch with other
 * objects.
 */
sealed interface PendingWrite {
    /** The effect of a change on a volume's log and index. It runs on the volume's thread. */
    @FunctionalInterface
    interface VolumeWrite {
        void apply(Volume volume) throws IOException;
    }

    /**
     * Queues the write. When the write has ended, {@code end} is called once, on the volume's thread. If the volume
     * does not accept the write, returns false and never calls {@code end}.
     */
    boolean queue(Volume volume, Appended end);

    /** Returns the heap bytes that the write retains until it ends. Bytes of the object are not included. */
    default int heapBytes() {
        return 0;
    }

    /** A write that is not batched: it ends when its task has run. */
    record AtOnce(StoreKey key, VolumeWrite write) implements PendingWrite {
        @Override
        public boolean queue(Volume volume, Appended end) {
            return volume.execute(() -> {
                IOException failure = null;
                try {
                    write.apply(volume);
                } catch (IOException e) {
                    failure = e;
                    // The key's previous record is outdated, so the key leaves the index although the write failed.
                    volume.forget(ObjectAppender.diskKey(key));
                } finally {
                    end.appended(failure);
                }
            });
        }
    }

    /** Receives the result of appending an object's record. Until then it provides the decoded head of the object. */
    record ObjectAppended<H>(H head, Appended end) implements Appended {
        @Override
        public void appended(@Nullable IOException failure) {
            end.appended(failure);
        }
    }

    /**
     * A write of a complete object in one record. The volume may combine it with the next queued objects in one batch.
     * Retains the decoded head until it ends.
     */
    record Gathering<H>(ObjectAppender<H> appender, ResidentObject<H> object, H head, int heapBytes)
            implements PendingWrite {
        @Override
        public boolean queue(Volume volume, Appended end) {
            return volume.executeGathering(() -> {
                boolean passedOn = false;
                try {
                    appender.complete(volume, object, head, new ObjectAppended<>(head, end));
                    passedOn = true;
                } finally {
                    if (!passedOn) {
                        end.appended(new IOException("not appended: " + object.key()));
                    }
                }
            });
        }
    }
}
