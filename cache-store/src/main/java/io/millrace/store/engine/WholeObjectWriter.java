package io.millrace.store.engine;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.object.StoreObject;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A writer that extends a complete object: it discards all content.
 *
 * <p>No block of the object is missing, so there is nothing to add. Holds a reference to the object until it ends.
 *
 * <p>Confined to one thread.
 */
final class WholeObjectWriter<H> implements ObjectWriter<H> {
    private final StoreObject<H> object;
    private boolean ended;

    WholeObjectWriter(StoreObject<H> object) {
        this.object = object;
        object.retain();
    }

    @Override
    public void head(H head, long length) {
        throw new IllegalStateException(
                "head() must not be called when an object is extended, because it already has a head: " + object.key());
    }

    @Override
    public long bytesMax(double share) {
        return object.length();
    }

    @Override
    public void length(long length) {
        // The length is already known.
    }

    @Override
    public void allowPartial() {
        // The object is complete.
    }

    @Override
    public @Nullable Claim claim(long position, long length) {
        return null;
    }

    @Override
    public void write(long position, ByteBuf content) {
        content.release();
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void onWritable(Executor replyOn, Runnable callback) {
        Replies.deliver(replyOn, callback);
    }

    @Override
    public void complete(long length) {
        keep();
    }

    @Override
    public void expectUnchanged() {
        throw new IllegalStateException("expectUnchanged() is only for new objects, not for: " + object.key());
    }

    @Override
    public boolean isOvertaken() {
        return false;
    }

    @Override
    public void keep() {
        if (!ended) {
            ended = true;
            object.release();
        }
    }

    @Override
    public void abort() {
        keep();
    }

    @Override
    public boolean isFailed() {
        return false;
    }

    @Override
    public StoredObject<H> object() {
        return object.retain();
    }
}
