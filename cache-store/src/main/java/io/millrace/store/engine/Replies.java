package io.millrace.store.engine;

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

/** Delivers answers on the caller's executor, and takes back what is in them when that one has shut down. */
final class Replies {
    private static final Logger LOG = LoggerFactory.getLogger(Replies.class);

    private Replies() {}

    static <H> void opened(Executor replyOn, OpenCallback<H> reply, @Nullable StoredObject<H> object) {
        if (!deliver(replyOn, () -> reply.onOpen(object)) && object != null) {
            object.release();
        }
    }

    static void content(Executor replyOn, ReadCallback reply, ByteBuf content) {
        if (!deliver(replyOn, () -> reply.onRead(content, null))) {
            content.release();
        }
    }

    static void failed(Executor replyOn, ReadCallback reply, IOException failure) {
        deliver(replyOn, () -> reply.onRead(null, failure));
    }

    static void range(Executor replyOn, RangeCallback reply, boolean readable) {
        deliver(replyOn, () -> reply.onRange(readable));
    }

    static boolean deliver(Executor replyOn, Runnable task) {
        try {
            replyOn.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            LOG.debug("reply dropped, its executor has shut down");
            return false;
        }
    }
}
