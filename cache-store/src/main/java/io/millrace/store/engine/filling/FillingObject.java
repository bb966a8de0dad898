package io.millrace.store.engine.filling;

import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.engine.object.CountedObject;
import io.millrace.store.engine.object.ObjectPlace;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A handle to a representation that is being received, or is stored in part.
 *
 * <p>It stays valid after the representation is complete. All handles of a representation share its body.
 *
 * <p>Thread-safe.
 */
public final class FillingObject<H> extends CountedObject<H> {
    private final FillingBody<H> body;
    private final ObjectPlace place;
    /** Null if the handle was created before the writer set the head. */
    private final @Nullable H head;

    /** Creates a handle, and takes over a reference to the body. The caller holds the first reference to the handle. */
    public FillingObject(FillingBody<H> body, ObjectPlace place, @Nullable H head) {
        this.body = body;
        this.place = place;
        this.head = head;
    }

    /** Returns the body; borrowed. */
    public FillingBody<H> body() {
        return body;
    }

    @Override
    public FillingObject<H> withHead(H newHead, int headBytes) {
        body.addReference();
        return new FillingObject<>(body, place, newHead);
    }

    @Override
    public StoreKey key() {
        return body.key();
    }

    @Override
    public H head() {
        H result = head != null ? head : body.firstHead();
        if (result == null) {
            throw new IllegalStateException("the writer has no head yet");
        }
        return result;
    }

    @Override
    public long length() {
        return body.length();
    }

    @Override
    public boolean isComplete() {
        return body.isComplete();
    }

    @Override
    public boolean hasRange(long position, long length) {
        return body.hasRange(position, length);
    }

    @Override
    public void onRange(long position, long length, Executor replyOn, RangeCallback reply) {
        body.onRange(position, length, replyOn, reply);
    }

    @Override
    public long sequence() {
        return place.sequence();
    }

    @Override
    public @Nullable ByteBuf residentBody() {
        return null;
    }

    /** Returns null, because finding bytes in RAM needs a lock. */
    @Override
    public @Nullable ByteBuf residentPart(long position, int count) {
        return null;
    }

    @Override
    public void read(long position, int length, Executor replyOn, ReadCallback reply) {
        body.read(position, length, place.location(), replyOn, reply);
    }

    @Override
    protected void deallocate() {
        body.release();
    }

    @Override
    public long location() {
        return place.location();
    }

    @Override
    public long objectId() {
        return place.objectId();
    }

    @Override
    public int volume() {
        return place.volume();
    }
}
