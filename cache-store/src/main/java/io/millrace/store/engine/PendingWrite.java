package io.millrace.store.engine;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.Appended;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.ResidentObject;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The write that settles a pending change, and how it goes through the volume's queue. */
sealed interface PendingWrite {
    /** What a change does to a volume's log and index, on the volume's thread. */
    @FunctionalInterface
    interface VolumeWrite {
        void apply(Volume volume) throws IOException;
    }

    /**
     * Queues it; {@code end} is called once, on the volume's thread, when it is through. False, and nothing will be called,
     * when it was not taken.
     */
    boolean queue(Volume volume, Appended end);

    /** Heap that it keeps until then, besides the object's. */
    default int heapBytes() {
        return 0;
    }

    /** One that is through when its task has run. */
    record AtOnce(StoreKey key, VolumeWrite write) implements PendingWrite {
        @Override
        public boolean queue(Volume volume, Appended end) {
            return volume.execute(() -> {
                IOException failure = null;
                try {
                    write.apply(volume);
                } catch (IOException e) {
                    failure = e;
                    // What was there before is superseded all the same.
                    volume.forget(ObjectAppender.diskKey(key));
                } finally {
                    end.appended(failure);
                }
            });
        }
    }

    /** Receives the outcome of appending an object's record, and holds the object's head until then. */
    record ObjectAppended<H>(H head, Appended end) implements Appended {
        @Override
        public void appended(@Nullable IOException failure) {
            end.appended(failure);
        }
    }

    /** A whole object, which may go out together with those queued next; its head, until then. */
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
