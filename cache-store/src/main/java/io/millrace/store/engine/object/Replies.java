package io.millrace.store.engine.object;

import io.millrace.store.OpenCallback;
import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Delivers replies on the caller's executor, and releases their content if the executor has shut down. */
public final class Replies {
    private static final Logger LOG = LoggerFactory.getLogger(Replies.class);

    private Replies() {}

    /** Delivers an opened object, or null if none was found. Releases the object if the executor has shut down. */
    public static <H> void opened(Executor replyOn, OpenCallback<H> reply, @Nullable StoredObject<H> object) {
        if (!deliver(replyOn, () -> reply.onOpen(object)) && object != null) {
            object.release();
        }
    }

    /** Delivers the content of a read; releases it if the executor has shut down. */
    public static void content(Executor replyOn, ReadCallback reply, ByteBuf content) {
        if (!deliver(replyOn, () -> reply.onRead(content, null))) {
            content.release();
        }
    }

    /** Delivers the failure of a read. */
    public static void failed(Executor replyOn, ReadCallback reply, IOException failure) {
        deliver(replyOn, () -> reply.onRead(null, failure));
    }

    /** Delivers whether a range is readable. */
    public static void range(Executor replyOn, RangeCallback reply, boolean readable) {
        deliver(replyOn, () -> reply.onRange(readable));
    }

    /** Runs the task on the executor. Returns false if the executor has shut down. */
    public static boolean deliver(Executor replyOn, Runnable task) {
        try {
            replyOn.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            LOG.debug("reply dropped because its executor has shut down");
            return false;
        }
    }
}
