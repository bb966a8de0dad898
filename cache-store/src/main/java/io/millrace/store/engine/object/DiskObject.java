package io.millrace.store.engine.object;

import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.disk.record.DamagedRecordException;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * An object whose body is on disk and is read in chunks. It holds pins on the segments of the body, so that they are
 * not overwritten.
 *
 * <p>Thread-safe.
 */
public final class DiskObject<H> extends CountedObject<H> {
    private final StoreKey key;
    private final H head;
    private final long length;
    private final ObjectPlace place;
    private final BlockMap blocks;
    private final ReadPool pool;
    private final HotPieces pieces;
    /** The object that holds the pins for this one; null if this object holds them itself. */
    private final @Nullable DiskObject<H> base;

    /** Takes over the pins of {@code blocks}; the caller holds the first reference. */
    public DiskObject(
            StoreKey key, H head, long length, ObjectPlace place, BlockMap blocks, ReadPool pool, HotPieces pieces) {
        this.key = key;
        this.head = head;
        this.length = length;
        this.place = place;
        this.blocks = blocks;
        this.pool = pool;
        this.pieces = pieces;
        this.base = null;
    }

    private DiskObject(DiskObject<H> base, H head) {
        this.key = base.key;
        this.head = head;
        this.length = base.length;
        this.place = base.place;
        this.blocks = base.blocks;
        this.pool = base.pool;
        this.pieces = base.pieces;
        this.base = base;
        base.retain();
    }

    @Override
    public DiskObject<H> withHead(H newHead, int headBytes) {
        return new DiskObject<>(base == null ? this : base, newHead);
    }

    @Override
    public long location() {
        return place.location();
    }

    @Override
    public StoreKey key() {
        return key;
    }

    @Override
    public H head() {
        return head;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public boolean isComplete() {
        return true;
    }

    @Override
    public boolean hasRange(long position, long count) {
        return position >= 0 && count >= 0 && count <= length - position;
    }

    @Override
    public void onRange(long position, long count, Executor replyOn, RangeCallback reply) {
        long end = Math.min(length(), position >= 0 && count <= length() - position ? position + count : length());
        Replies.range(replyOn, reply, hasRange(position, end - position));
    }

    @Override
    public long sequence() {
        return place.sequence();
    }

    @Override
    public @Nullable ByteBuf residentBody() {
        return null;
    }

    @Override
    public @Nullable ByteBuf residentPart(long position, int count) {
        return hasRange(position, 1) ? pieces.find(blocks.volume().id(), place.objectId(), position, count) : null;
    }

    @Override
    public void read(long position, int count, Executor replyOn, ReadCallback reply) {
        if (position < 0 || position >= length || count <= 0) {
            Replies.failed(
                    replyOn, reply, new IOException("read at byte " + position + " of a body of " + length + " bytes"));
            return;
        }
        pool.read(
                Math.min(count, READ_LENGTH_MAX),
                () -> readNow(position, count, replyOn, reply),
                () -> Replies.failed(replyOn, reply, new IOException("the queue of disk reads is full")));
    }

    private void readNow(long position, int count, Executor replyOn, ReadCallback reply) {
        ByteBuf content;
        try {
            content = readChunk(position, count);
        } catch (DamagedRecordException e) {
            pool.damaged();
            int block = (int) (position / blocks.blockBytes());
            blocks.dropDamaged(key, place.location(), block, blocks.location(block));
            Replies.failed(replyOn, reply, e);
            return;
        } catch (IOException e) {
            Replies.failed(replyOn, reply, e);
            return;
        }
        if (position % HotPieces.PIECE_BYTES == 0
                && content.readableBytes() == Math.min(HotPieces.PIECE_BYTES, length - position)) {
            ByteBuf piece = content;
            content = piece.retainedSlice();
            pieces.onPieceRead(blocks.volume().id(), place.objectId(), position, piece);
            piece.release();
        }
        Replies.content(replyOn, reply, content);
    }

    /** Returns the content of one read; the caller releases it. Waits for the disk. */
    public ByteBuf readChunk(long position, int count) throws IOException {
        int block = (int) (position / blocks.blockBytes());
        int from = (int) (position % blocks.blockBytes());
        long limit = Math.min(Math.min(count, READ_LENGTH_MAX), length - position);
        int readBytes = (int) Math.min(limit, (long) blocks.blockBytes() - from);
        return blocks.read(block, blocks.location(block), blocks.tag(block), from, readBytes);
    }

    @Override
    protected void deallocate() {
        if (base != null) {
            base.release();
        } else {
            blocks.unpin();
        }
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
