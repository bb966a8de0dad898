package io.millrace.proxy.fill;

import io.millrace.store.ObjectWriter;
import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.Executor;

/** A store writer that records all bytes in order, which can be read in the meantime. */
final class RecordedWriter implements ObjectWriter<String>, StoredObject<String> {
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    boolean writable = true;
    boolean aborted;
    long completedLength = -1;
    int references;
    int reads;
    private Runnable onWritable = () -> {};

    byte[] bytes() {
        return written.toByteArray();
    }

    void makeWritable() {
        writable = true;
        onWritable.run();
    }

    @Override
    public void head(String head, long length) {}

    @Override
    public void write(long position, ByteBuf content) {
        if (position != written.size()) {
            throw new AssertionError("written at " + position + ", expected " + written.size());
        }
        byte[] bytes = new byte[content.readableBytes()];
        content.readBytes(bytes).release();
        written.writeBytes(bytes);
    }

    @Override
    public boolean isWritable() {
        return writable;
    }

    @Override
    public void onWritable(Executor replyOn, Runnable callback) {
        onWritable = callback;
    }

    @Override
    public void complete(long length) {
        completedLength = length;
    }

    @Override
    public long bytesMax(double share) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void length(long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void expectUnchanged() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOvertaken() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void allowPartial() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Claim claim(long position, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void keep() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void abort() {
        aborted = true;
    }

    @Override
    public boolean isFailed() {
        return aborted;
    }

    @Override
    public StoredObject<String> object() {
        references++;
        return this;
    }

    @Override
    public StoreKey key() {
        throw new UnsupportedOperationException();
    }

    @Override
    public String head() {
        return "";
    }

    @Override
    public long length() {
        return completedLength;
    }

    @Override
    public boolean isComplete() {
        return completedLength >= 0;
    }

    @Override
    public boolean hasRange(long position, long length) {
        return position + length <= written.size();
    }

    @Override
    public void onRange(long position, long length, Executor replyOn, RangeCallback reply) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long sequence() {
        return 0;
    }

    @Override
    public ByteBuf residentPart(long position, int length) {
        return null;
    }

    @Override
    public ByteBuf residentBody() {
        return null;
    }

    @Override
    public void read(long position, int length, Executor replyOn, ReadCallback reply) {
        reads++;
        byte[] bytes = written.toByteArray();
        int available = (int) Math.min(length, bytes.length - position);
        replyOn.execute(() -> reply.onRead(Unpooled.copiedBuffer(bytes, (int) position, available), null));
    }

    @Override
    public StoredObject<String> retain() {
        references++;
        return this;
    }

    @Override
    public boolean release() {
        references--;
        return references == 0;
    }
}
