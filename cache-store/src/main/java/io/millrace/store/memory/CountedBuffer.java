package io.millrace.store.memory;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A direct buffer that the budget counts for as long as anybody holds it or a slice of it: what the allocator set aside,
 * which its size classes make more than the capacity.
 *
 * <p>Every access goes to the buffer inside, which nobody else sees; indexes and the reference count are this one's.
 */
final class CountedBuffer extends AbstractReferenceCountedByteBuf {
    private static final AtomicIntegerFieldUpdater<CountedBuffer> TENANCIES =
            AtomicIntegerFieldUpdater.newUpdater(CountedBuffer.class, "tenancies");

    private final ByteBuf inner;
    private final CountingAllocator allocator;
    private long bytes;
    /** What it is when it is not resident: where it came from. */
    private final Part part;
    /** Entries of the RAM tier that have it as their body. */
    private volatile int tenancies;

    /**
     * Takes ownership of the buffer, which is empty.
     *
     * @param reserved what the budget has set aside for it already
     */
    CountedBuffer(ByteBuf inner, CountingAllocator allocator, Part part, long reserved) {
        super(inner.maxCapacity());
        this.inner = inner;
        this.allocator = allocator;
        this.part = part;
        this.bytes = allocatedBytes(inner);
        allocator.budget().add(part, bytes - reserved);
    }

    /** What the allocator set aside for a buffer; its indexes must be as they were made. */
    private static long allocatedBytes(ByteBuf buffer) {
        return Math.max(buffer.capacity(), buffer.writerIndex() + (long) buffer.maxFastWritableBytes());
    }

    /** An entry of the RAM tier has it as its body from now on. */
    void moveIn() {
        if (TENANCIES.getAndIncrement(this) == 0) {
            allocator.budget().move(part, Part.RESIDENT, bytes);
        }
    }

    /** Such an entry has left. */
    void moveOut() {
        if (TENANCIES.decrementAndGet(this) == 0) {
            allocator.budget().move(Part.RESIDENT, part, bytes);
        }
    }

    @Override
    protected void deallocate() {
        assert tenancies == 0;
        inner.release();
        allocator.budget().release(part, bytes);
    }

    @Override
    public int capacity() {
        return inner.capacity();
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        inner.capacity(newCapacity);
        trimIndicesToCapacity(newCapacity);
        long now = allocatedBytes(inner);
        allocator.budget().add(part, now - bytes);
        bytes = now;
        return this;
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.max(writableBytes(), inner.maxFastWritableBytes() - writerIndex());
    }

    @Override
    public ByteBufAllocator alloc() {
        return allocator;
    }

    @Override
    public ByteBuf copy(int index, int length) {
        return allocator.directBuffer(length, maxCapacity()).writeBytes(inner, index, length);
    }

    @Override
    @SuppressWarnings("deprecation") // has no successor, and is abstract
    public ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    /** None: a slice of this is to hold this, not what is inside. */
    @Override
    @SuppressWarnings("NullAway") // as the method says
    public ByteBuf unwrap() {
        return null;
    }

    @Override
    protected byte _getByte(int index) {
        return inner.getByte(index);
    }

    @Override
    protected short _getShort(int index) {
        return inner.getShort(index);
    }

    @Override
    protected short _getShortLE(int index) {
        return inner.getShortLE(index);
    }

    @Override
    protected int _getUnsignedMedium(int index) {
        return inner.getUnsignedMedium(index);
    }

    @Override
    protected int _getUnsignedMediumLE(int index) {
        return inner.getUnsignedMediumLE(index);
    }

    @Override
    protected int _getInt(int index) {
        return inner.getInt(index);
    }

    @Override
    protected int _getIntLE(int index) {
        return inner.getIntLE(index);
    }

    @Override
    protected long _getLong(int index) {
        return inner.getLong(index);
    }

    @Override
    protected long _getLongLE(int index) {
        return inner.getLongLE(index);
    }

    @Override
    protected void _setByte(int index, int value) {
        inner.setByte(index, value);
    }

    @Override
    protected void _setShort(int index, int value) {
        inner.setShort(index, value);
    }

    @Override
    protected void _setShortLE(int index, int value) {
        inner.setShortLE(index, value);
    }

    @Override
    protected void _setMedium(int index, int value) {
        inner.setMedium(index, value);
    }

    @Override
    protected void _setMediumLE(int index, int value) {
        inner.setMediumLE(index, value);
    }

    @Override
    protected void _setInt(int index, int value) {
        inner.setInt(index, value);
    }

    @Override
    protected void _setIntLE(int index, int value) {
        inner.setIntLE(index, value);
    }

    @Override
    protected void _setLong(int index, long value) {
        inner.setLong(index, value);
    }

    @Override
    protected void _setLongLE(int index, long value) {
        inner.setLongLE(index, value);
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
        inner.getBytes(index, target, targetIndex, length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int targetIndex, int length) {
        inner.getBytes(index, target, targetIndex, length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
        inner.getBytes(index, target);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
        inner.getBytes(index, out, length);
        return this;
    }

    @Override
    public int getBytes(int index, GatheringByteChannel out, int length) throws IOException {
        return inner.getBytes(index, out, length);
    }

    @Override
    public int getBytes(int index, FileChannel out, long position, int length) throws IOException {
        return inner.getBytes(index, out, position, length);
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
        inner.setBytes(index, source, sourceIndex, length);
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, byte[] source, int sourceIndex, int length) {
        inner.setBytes(index, source, sourceIndex, length);
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuffer source) {
        inner.setBytes(index, source);
        return this;
    }

    @Override
    public int setBytes(int index, InputStream in, int length) throws IOException {
        return inner.setBytes(index, in, length);
    }

    @Override
    public int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
        return inner.setBytes(index, in, length);
    }

    @Override
    public int setBytes(int index, FileChannel in, long position, int length) throws IOException {
        return inner.setBytes(index, in, position, length);
    }

    @Override
    public boolean isDirect() {
        return inner.isDirect();
    }

    @Override
    public int nioBufferCount() {
        return inner.nioBufferCount();
    }

    @Override
    public ByteBuffer nioBuffer(int index, int length) {
        return inner.nioBuffer(index, length);
    }

    @Override
    public ByteBuffer internalNioBuffer(int index, int length) {
        return inner.internalNioBuffer(index, length);
    }

    @Override
    public ByteBuffer[] nioBuffers(int index, int length) {
        return inner.nioBuffers(index, length);
    }

    @Override
    public boolean isContiguous() {
        return inner.isContiguous();
    }

    @Override
    public boolean hasArray() {
        return inner.hasArray();
    }

    @Override
    public byte[] array() {
        return inner.array();
    }

    @Override
    public int arrayOffset() {
        return inner.arrayOffset();
    }

    @Override
    public boolean hasMemoryAddress() {
        return inner.hasMemoryAddress();
    }

    @Override
    public long memoryAddress() {
        return inner.memoryAddress();
    }

    @Override
    public ByteBuf setZero(int index, int length) {
        inner.setZero(index, length);
        return this;
    }
}
