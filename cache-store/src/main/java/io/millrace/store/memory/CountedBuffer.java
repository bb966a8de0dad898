package io.millrace.store.memory;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.AbstractByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledUnsafeDirectByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A direct buffer whose memory is counted in the {@link MemoryBudget} until its last reference is released. The counted
 * size is the size of the allocated block, which is larger than the capacity.
 *
 * <p>The memory is a block of a {@link BodyArena} region, which other buffers share. If an allocator is configured, the
 * memory is a buffer of that allocator instead.
 *
 * <p>The fields use little heap, because every object in RAM has one counted buffer. Therefore the reference count is a
 * field and not an object, and values known to the allocator are not copied.
 */
final class CountedBuffer extends AbstractByteBuf {
    private static final AtomicIntegerFieldUpdater<CountedBuffer> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(CountedBuffer.class, "references");
    private static final AtomicIntegerFieldUpdater<CountedBuffer> RESIDENCIES =
            AtomicIntegerFieldUpdater.newUpdater(CountedBuffer.class, "residencies");

    static final ResourceLeakDetector<CountedBuffer> LEAKS =
            ResourceLeakDetectorFactory.instance().newResourceLeakDetector(CountedBuffer.class);

    private final CountingAllocator allocator;
    /** Bytes of the block between its header and the content of this buffer. */
    private final int prefixBytes;
    /**
     * The region that contains the block, shared with other buffers. If an allocator is configured, a buffer that is
     * used only here.
     */
    private ByteBuf memory;
    /** Start of the block's content in {@link #memory}. */
    private int offset;

    private int capacity;
    /** The arena of the block; null if an allocator is configured. */
    private @Nullable BodyArena arena;
    /** Number of the region in the arena. */
    private int region;

    /** Size of the block in bytes, which the budget counts. */
    private int bytes;

    private volatile int references = 1;
    /**
     * Number of entries of the RAM tier with this buffer as their body, if an allocator is configured. Otherwise
     * {@link BlockOwners} counts them.
     */
    private volatile int residencies;
    /** Leak tracker; null unless leak detection samples this buffer. */
    private final @Nullable ResourceLeakTracker<CountedBuffer> leak;

    /**
     * Creates an empty buffer.
     *
     * @param reserved bytes already reserved in the budget for this buffer; the difference to the actual size is added
     * @param prefixBytes bytes in the block before the content; 0 if an allocator is configured
     */
    CountedBuffer(int capacity, int maxCapacity, CountingAllocator allocator, long reserved, int prefixBytes) {
        super(maxCapacity);
        this.allocator = allocator;
        this.prefixBytes = prefixBytes;
        memory = allocateMemory(capacity);
        allocator.budget().add(part(), bytes - reserved);
        leak = LEAKS.track(this);
    }

    /**
     * Creates a buffer for the block of a compact entry, which then has one more owner. The readable bytes are the
     * body.
     */
    CountedBuffer(CountingAllocator allocator, BodyArena arena, long place, int bodyLength, int capacity) {
        super(capacity);
        this.allocator = allocator;
        this.prefixBytes = CompactEntries.PREFIX_BYTES;
        this.arena = arena;
        this.capacity = capacity;
        memory = arena.region(place);
        region = BodyArena.regionNumber(place);
        offset = BodyArena.offset(place) + prefixBytes;
        bytes = arena.bytes(place);
        BlockOwners.addBuffer(arena, place);
        setIndex(0, bodyLength);
        leak = LEAKS.track(this);
    }

    /** Returns the part of the budget that counts the buffer while it is not in the RAM tier. */
    private Part part() {
        return allocator.part();
    }

    /** Allocates memory and sets the fields that describe it. */
    private ByteBuf allocateMemory(int requiredCapacity) {
        BodyPool pool = allocator.pool();
        ByteBufAllocator configured = pool.configured();
        ByteBuf allocated;
        if (configured == null) {
            BodyArena from = pool.arena();
            long place = from.allocate(requiredCapacity + prefixBytes);
            BlockOwners.begin(from, place);
            arena = from;
            allocated = from.region(place);
            region = BodyArena.regionNumber(place);
            offset = BodyArena.offset(place) + prefixBytes;
            bytes = from.bytes(place);
        } else {
            allocated = configured.directBuffer(requiredCapacity, maxCapacity());
            bytes = Math.max(allocated.capacity(), allocated.maxFastWritableBytes());
        }
        capacity = requiredCapacity;
        return allocated;
    }

    /** Returns the bytes that the budget counts for this buffer. */
    long bytes() {
        return bytes;
    }

    /** Returns the place of the block. Only for a buffer in an arena. */
    long place() {
        return BodyArena.place(region, offset - prefixBytes);
    }

    /** Returns the arena of the block. Only for a buffer in an arena. */
    BodyArena arena() {
        BodyArena from = arena;
        if (from == null) {
            throw new IllegalStateException("the buffer is not in an arena");
        }
        return from;
    }

    /** Returns true if the buffer has the prefix of a compact entry, and was allocated by this allocator. */
    boolean hasPrefixOf(CountingAllocator allocatedBy) {
        return prefixBytes == CompactEntries.PREFIX_BYTES && allocator.equals(allocatedBy);
    }

    /** Returns the bytes of the block before the content; borrowed. */
    ByteBuf prefix() {
        return memory.slice(offset - prefixBytes, prefixBytes);
    }

    /**
     * Called when an entry of the RAM tier begins to use this buffer as its body. The first entry moves the bytes to
     * the RESIDENT part of the budget.
     */
    void addResidency() {
        BodyArena from = arena;
        if (from != null) {
            BlockOwners.addEntry(from, place(), allocator);
        } else if (RESIDENCIES.getAndIncrement(this) == 0) {
            allocator.budget().move(part(), Part.RESIDENT, bytes);
        }
    }

    /** Called when an entry of the RAM tier no longer uses this buffer as its body. */
    void removeResidency() {
        BodyArena from = arena;
        if (from != null) {
            BlockOwners.removeEntry(from, place(), allocator);
        } else if (RESIDENCIES.decrementAndGet(this) == 0) {
            allocator.budget().move(Part.RESIDENT, part(), bytes);
        }
    }

    @Override
    public int refCnt() {
        return references;
    }

    @Override
    public ByteBuf retain() {
        return retain(1);
    }

    @Override
    public ByteBuf retain(int increment) {
        int count = references;
        while (count > 0 && increment > 0 && count <= Integer.MAX_VALUE - increment) {
            if (REFERENCES.compareAndSet(this, count, count + increment)) {
                return this;
            }
            count = references;
        }
        throw new IllegalReferenceCountException(count, increment);
    }

    @Override
    public boolean release() {
        return release(1);
    }

    @Override
    public boolean release(int decrement) {
        int count = references;
        while (decrement > 0 && count >= decrement) {
            if (REFERENCES.compareAndSet(this, count, count - decrement)) {
                if (count == decrement) {
                    deallocate();
                }
                return count == decrement;
            }
            count = references;
        }
        throw new IllegalReferenceCountException(count, -decrement);
    }

    @Override
    public ByteBuf touch() {
        return this;
    }

    @Override
    public ByteBuf touch(Object hint) {
        return this;
    }

    private void deallocate() {
        assert residencies == 0;
        if (leak != null) {
            leak.close(this);
        }
        BodyArena from = arena;
        if (from == null) {
            memory.release();
            allocator.budget().release(part(), bytes);
        } else {
            BlockOwners.removeBuffer(from, place(), allocator);
        }
    }

    @Override
    public int capacity() {
        return capacity;
    }

    /**
     * Changes the capacity, and moves the content to a larger block if necessary.
     *
     * @throws IllegalStateException if the block would have to move, but has another owner
     */
    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        int before = bytes;
        if (arena == null) {
            memory.capacity(newCapacity);
            bytes = Math.max(newCapacity, memory.maxFastWritableBytes());
        } else if (newCapacity > bytes - headerBytes()) {
            move(arena, newCapacity);
        }
        allocator.budget().add(part(), bytes - before);
        capacity = newCapacity;
        trimIndicesToCapacity(newCapacity);
        return this;
    }

    /** Moves the content to a larger block. */
    private void move(BodyArena oldArena, int newCapacity) {
        long oldPlace = place();
        BlockOwners.checkOneBuffer(oldArena, oldPlace);
        ByteBuf oldMemory = memory;
        int oldOffset = offset;
        int content = capacity;
        memory = allocateMemory(newCapacity);
        setBytes(0, oldMemory, oldOffset, content);
        oldArena.free(oldPlace);
    }

    /** Returns the bytes of the block that are not available for content. */
    private int headerBytes() {
        return arena == null ? 0 : BodyArena.HEADER + prefixBytes;
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.min(maxCapacity(), bytes - headerBytes()) - writerIndex();
    }

    @Override
    public ByteBufAllocator alloc() {
        return allocator;
    }

    @Override
    public ByteBuf copy(int index, int length) {
        checkIndex(index, length);
        return allocator.directBuffer(length, maxCapacity()).writeBytes(memory, offset + index, length);
    }

    @Override
    @SuppressWarnings("deprecation") // deprecated without a replacement, but abstract
    public ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    /** Returns null, so that slices retain this buffer and not its region. */
    @Override
    @SuppressWarnings("NullAway") // null is allowed: see ByteBuf.unwrap
    public ByteBuf unwrap() {
        return null;
    }

    @Override
    protected byte _getByte(int index) {
        return memory.getByte(offset + index);
    }

    @Override
    protected short _getShort(int index) {
        return memory.getShort(offset + index);
    }

    @Override
    protected short _getShortLE(int index) {
        return memory.getShortLE(offset + index);
    }

    @Override
    protected int _getUnsignedMedium(int index) {
        return memory.getUnsignedMedium(offset + index);
    }

    @Override
    protected int _getUnsignedMediumLE(int index) {
        return memory.getUnsignedMediumLE(offset + index);
    }

    @Override
    protected int _getInt(int index) {
        return memory.getInt(offset + index);
    }

    @Override
    protected int _getIntLE(int index) {
        return memory.getIntLE(offset + index);
    }

    @Override
    protected long _getLong(int index) {
        return memory.getLong(offset + index);
    }

    @Override
    protected long _getLongLE(int index) {
        return memory.getLongLE(offset + index);
    }

    @Override
    protected void _setByte(int index, int value) {
        memory.setByte(offset + index, value);
    }

    @Override
    protected void _setShort(int index, int value) {
        memory.setShort(offset + index, value);
    }

    @Override
    protected void _setShortLE(int index, int value) {
        memory.setShortLE(offset + index, value);
    }

    @Override
    protected void _setMedium(int index, int value) {
        memory.setMedium(offset + index, value);
    }

    @Override
    protected void _setMediumLE(int index, int value) {
        memory.setMediumLE(offset + index, value);
    }

    @Override
    protected void _setInt(int index, int value) {
        memory.setInt(offset + index, value);
    }

    @Override
    protected void _setIntLE(int index, int value) {
        memory.setIntLE(offset + index, value);
    }

    @Override
    protected void _setLong(int index, long value) {
        memory.setLong(offset + index, value);
    }

    @Override
    protected void _setLongLE(int index, long value) {
        memory.setLongLE(offset + index, value);
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
        // Copies through an NIO view, because Netty 4.2.18 without Unsafe cannot copy from the region to a composite
        // buffer.
        target.setBytes(targetIndex, nioBuffer(index, length));
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int targetIndex, int length) {
        checkIndex(index, length);
        memory.getBytes(offset + index, target, targetIndex, length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
        checkIndex(index, target.remaining());
        memory.getBytes(offset + index, target);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
        checkIndex(index, length);
        memory.getBytes(offset + index, out, length);
        return this;
    }

    @Override
    public int getBytes(int index, GatheringByteChannel out, int length) throws IOException {
        checkIndex(index, length);
        return memory.getBytes(offset + index, out, length);
    }

    @Override
    public int getBytes(int index, FileChannel out, long position, int length) throws IOException {
        checkIndex(index, length);
        return memory.getBytes(offset + index, out, position, length);
    }

    // Each of the next methods writes through a new NIO view. Without Unsafe, bulk writes to a region use its internal
    // NIO view, which all buffers in the region share and which is not thread-safe.

    @Override
    public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
        if (memory instanceof UnpooledUnsafeDirectByteBuf && source.hasMemoryAddress()) {
            // With Unsafe, the copy between two addresses uses no NIO view.
            checkIndex(index, length);
            memory.setBytes(offset + index, source, sourceIndex, length);
        } else {
            source.getBytes(sourceIndex, nioBuffer(index, length));
        }
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, byte[] source, int sourceIndex, int length) {
        nioBuffer(index, length).put(source, sourceIndex, length);
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuffer source) {
        nioBuffer(index, source.remaining()).put(source);
        return this;
    }

    @Override
    public int setBytes(int index, InputStream in, int length) throws IOException {
        checkIndex(index, length);
        byte[] piece = new byte[length];
        int read = in.read(piece, 0, length);
        if (read > 0) {
            setBytes(index, piece, 0, read);
        }
        return read;
    }

    @Override
    public int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
        ByteBuffer target = nioBuffer(index, length);
        try {
            return in.read(target);
        } catch (ClosedChannelException ended) {
            return -1;
        }
    }

    @Override
    public int setBytes(int index, FileChannel in, long position, int length) throws IOException {
        ByteBuffer target = nioBuffer(index, length);
        try {
            return in.read(target, position);
        } catch (ClosedChannelException ended) {
            return -1;
        }
    }

    @Override
    public boolean isDirect() {
        return memory.isDirect();
    }

    @Override
    public int nioBufferCount() {
        return 1;
    }

    @Override
    public ByteBuffer nioBuffer(int index, int length) {
        checkIndex(index, length);
        return memory.nioBuffer(offset + index, length);
    }

    @Override
    public ByteBuffer internalNioBuffer(int index, int length) {
        // The internal NIO view of the region is shared with other buffers, so it cannot be used here.
        return nioBuffer(index, length);
    }

    @Override
    public ByteBuffer[] nioBuffers(int index, int length) {
        return new ByteBuffer[] {nioBuffer(index, length)};
    }

    @Override
    public boolean isContiguous() {
        return true;
    }

    @Override
    public boolean hasArray() {
        return false;
    }

    @Override
    public byte[] array() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public int arrayOffset() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public boolean hasMemoryAddress() {
        return memory.hasMemoryAddress();
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return memory.memoryAddress() + offset;
    }

    @Override
    public ByteBuf setZero(int index, int length) {
        checkIndex(index, length);
        memory.setZero(offset + index, length);
        return this;
    }
}
