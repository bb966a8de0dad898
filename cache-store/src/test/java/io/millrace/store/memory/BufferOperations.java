package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Operations on a buffer. A sequence of random numbers determines the operations. Their results are equal for buffers
 * of equal content.
 */
final class BufferOperations {
    /** One operation. */
    interface Operation {
        Object on(ByteBuf buffer, Random random) throws IOException;
    }

    /** Longer ranges are rarely moved. */
    private static final int LENGTH_USUALLY_MAX = 40;

    private final FileChannel file;

    /**
     * @param file target and source of channel operations
     */
    BufferOperations(FileChannel file) {
        this.file = file;
    }

    /** Returns all operations. */
    List<Operation> all() {
        return List.of(
                BufferOperations::get,
                BufferOperations::getLittleEndian,
                BufferOperations::set,
                BufferOperations::setLittleEndian,
                BufferOperations::read,
                BufferOperations::write,
                BufferOperations::writeLittleEndian,
                BufferOperations::getMany,
                BufferOperations::getManyToBuffer,
                this::getManyToChannel,
                BufferOperations::setMany,
                BufferOperations::setManyOfBuffer,
                this::setManyOfChannel,
                BufferOperations::readMany,
                BufferOperations::writeMany,
                BufferOperations::view,
                BufferOperations::writeThroughView,
                BufferOperations::nioBuffers,
                BufferOperations::search,
                BufferOperations::text,
                BufferOperations::move,
                BufferOperations::composite,
                BufferOperations::capacity);
    }

    /** Returns a start, mostly within the buffer. */
    private static int index(ByteBuf buffer, Random random) {
        return random.nextInt(20) == 0
                ? random.nextInt(buffer.capacity() + 20) - 10
                : random.nextInt(Math.max(1, buffer.capacity()));
    }

    /** Returns a length, mostly the number of bytes from there on. */
    private static int length(ByteBuf buffer, int index, Random random) {
        int most = random.nextInt(8) == 0 ? buffer.capacity() : LENGTH_USUALLY_MAX;
        int length = 1 + random.nextInt(most + 1);
        return random.nextInt(20) == 0 ? length : Math.max(1, Math.min(length, buffer.capacity() - index));
    }

    private static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static Object get(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        return switch (random.nextInt(11)) {
            case 0 -> buffer.getByte(index);
            case 1 -> buffer.getUnsignedByte(index);
            case 2 -> buffer.getBoolean(index);
            case 3 -> buffer.getShort(index);
            case 4 -> buffer.getUnsignedShort(index);
            case 5 -> buffer.getMedium(index);
            case 6 -> buffer.getInt(index);
            case 7 -> buffer.getLong(index);
            case 8 -> buffer.getChar(index);
            case 9 -> Float.floatToRawIntBits(buffer.getFloat(index));
            default -> Double.doubleToRawLongBits(buffer.getDouble(index));
        };
    }

    private static Object getLittleEndian(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        return switch (random.nextInt(6)) {
            case 0 -> buffer.getShortLE(index);
            case 1 -> buffer.getUnsignedShortLE(index);
            case 2 -> buffer.getMediumLE(index);
            case 3 -> buffer.getUnsignedMediumLE(index);
            case 4 -> buffer.getIntLE(index);
            default -> buffer.getLongLE(index);
        };
    }

    private static Object set(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        long value = random.nextLong();
        switch (random.nextInt(7)) {
            case 0 -> buffer.setByte(index, (int) value);
            case 1 -> buffer.setShort(index, (int) value);
            case 2 -> buffer.setMedium(index, (int) value);
            case 3 -> buffer.setInt(index, (int) value);
            case 4 -> buffer.setLong(index, value);
            case 5 -> buffer.setFloat(index, (float) value);
            default -> buffer.setDouble(index, (double) value);
        }
        return index;
    }

    private static Object setLittleEndian(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        long value = random.nextLong();
        switch (random.nextInt(4)) {
            case 0 -> buffer.setShortLE(index, (int) value);
            case 1 -> buffer.setMediumLE(index, (int) value);
            case 2 -> buffer.setIntLE(index, (int) value);
            default -> buffer.setLongLE(index, value);
        }
        return index;
    }

    private static Object read(ByteBuf buffer, Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> buffer.readByte();
            case 1 -> buffer.readShort();
            case 2 -> buffer.readShortLE();
            case 3 -> buffer.readMedium();
            case 4 -> buffer.readUnsignedMediumLE();
            case 5 -> buffer.readInt();
            case 6 -> buffer.readIntLE();
            case 7 -> buffer.readLong();
            case 8 -> buffer.readLongLE();
            default -> buffer.readChar();
        };
    }

    private static Object write(ByteBuf buffer, Random random) {
        long value = random.nextLong();
        switch (random.nextInt(6)) {
            case 0 -> buffer.writeByte((int) value);
            case 1 -> buffer.writeShort((int) value);
            case 2 -> buffer.writeMedium((int) value);
            case 3 -> buffer.writeInt((int) value);
            case 4 -> buffer.writeLong(value);
            default -> buffer.writeZero(random.nextInt(100));
        }
        return buffer.writerIndex();
    }

    private static Object writeLittleEndian(ByteBuf buffer, Random random) {
        long value = random.nextLong();
        switch (random.nextInt(4)) {
            case 0 -> buffer.writeShortLE((int) value);
            case 1 -> buffer.writeMediumLE((int) value);
            case 2 -> buffer.writeIntLE((int) value);
            default -> buffer.writeLongLE(value);
        }
        return buffer.writerIndex();
    }

    private static Object getMany(ByteBuf buffer, Random random) throws IOException {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        byte[] array = new byte[length + 2];
        switch (random.nextInt(4)) {
            case 0 -> buffer.getBytes(index, array, 1, length);
            case 1 -> buffer.getBytes(index, ByteBuffer.wrap(array, 2, length));
            case 2 -> {
                ByteBuffer direct = ByteBuffer.allocateDirect(length + 1).position(1);
                buffer.getBytes(index, direct);
                direct.position(1).get(array, 0, length);
            }
            default -> {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                buffer.getBytes(index, out, length);
                return ByteBuffer.wrap(out.toByteArray());
            }
        }
        return ByteBuffer.wrap(array);
    }

    private static ByteBuf other(ByteBuf buffer, Random random, int length) {
        ByteBuf other =
                switch (random.nextInt(4)) {
                    case 0 -> Unpooled.buffer(length + 4);
                    case 1 -> Unpooled.directBuffer(length + 4);
                    case 2 -> buffer.alloc().directBuffer(length + 4);
                    default ->
                        Unpooled.wrappedBuffer(
                                Unpooled.directBuffer(4).writeLong(1),
                                Unpooled.buffer(length).writeZero(length));
                };
        return other.setBytes(0, bytes(random, length + 4));
    }

    private static Object getManyToBuffer(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        ByteBuf target = other(buffer, random, length);
        try {
            if (random.nextBoolean()) {
                buffer.getBytes(index, target, 3, length);
            } else {
                buffer.getBytes(index, target.setIndex(0, 2), length);
            }
            return ByteBufUtil.hexDump(target, 0, length + 4);
        } finally {
            target.release();
        }
    }

    private Object getManyToChannel(ByteBuf buffer, Random random) throws IOException {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        file.truncate(0);
        int count = random.nextBoolean()
                ? buffer.getBytes(index, file, 0, length)
                : buffer.getBytes(index, file.position(0), length);
        ByteBuffer back = ByteBuffer.allocate(count);
        file.read(back, 0);
        return back.flip();
    }

    private static Object setMany(ByteBuf buffer, Random random) throws IOException {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        byte[] array = bytes(random, length + 2);
        switch (random.nextInt(5)) {
            case 0 -> buffer.setBytes(index, array, 1, length);
            case 1 -> buffer.setBytes(index, ByteBuffer.wrap(array, 2, length));
            case 2 -> buffer.setBytes(index, ByteBuffer.wrap(array, 2, length).asReadOnlyBuffer());
            case 3 ->
                buffer.setBytes(
                        index,
                        ByteBuffer.allocateDirect(length).put(array, 0, length).flip());
            default -> {
                return buffer.setBytes(index, new ByteArrayInputStream(array, 1, length / 2 + 1), length);
            }
        }
        return length;
    }

    private static Object setManyOfBuffer(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        ByteBuf source = other(buffer, random, length);
        try {
            switch (random.nextInt(4)) {
                case 0 -> buffer.setBytes(index, source, 3, length);
                case 1 -> buffer.setBytes(index, source.setIndex(1, length + 4), length);
                case 2 -> buffer.setBytes(index, source.asReadOnly(), 2, length);
                default -> buffer.setBytes(index, buffer, index(buffer, random), length);
            }
            return source.readerIndex();
        } finally {
            source.release();
        }
    }

    private Object setManyOfChannel(ByteBuf buffer, Random random) throws IOException {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        file.truncate(0);
        file.write(ByteBuffer.wrap(bytes(random, random.nextInt(length + 1))), 0);
        return random.nextBoolean()
                ? buffer.setBytes(index, file, 0, length)
                : buffer.setBytes(index, file.position(0), length);
    }

    private static Object readMany(ByteBuf buffer, Random random) {
        int length = random.nextInt(10) == 0 ? LENGTH_USUALLY_MAX : random.nextInt(buffer.readableBytes() + 1);
        switch (random.nextInt(5)) {
            case 0 -> {
                return hexDumpOnce(buffer.readBytes(length));
            }
            case 1 -> {
                return ByteBufUtil.hexDump(buffer.readSlice(length));
            }
            case 2 -> {
                return hexDumpOnce(buffer.readRetainedSlice(length));
            }
            case 3 -> {
                byte[] array = new byte[length];
                buffer.readBytes(array);
                return ByteBuffer.wrap(array);
            }
            default -> {
                return buffer.skipBytes(length).readerIndex();
            }
        }
    }

    private static String hexDumpOnce(ByteBuf buffer) {
        try {
            return ByteBufUtil.hexDump(buffer);
        } finally {
            buffer.release();
        }
    }

    private static Object writeMany(ByteBuf buffer, Random random) throws IOException {
        int length = random.nextInt(random.nextInt(10) == 0 ? 1_500 : LENGTH_USUALLY_MAX);
        byte[] array = bytes(random, length);
        return switch (random.nextInt(5)) {
            case 0 -> buffer.writeBytes(array).writerIndex();
            case 1 -> buffer.writeBytes(ByteBuffer.wrap(array)).writerIndex();
            case 2 -> buffer.writeBytes(Unpooled.wrappedBuffer(array)).writerIndex();
            case 3 ->
                buffer.writeBytes(Unpooled.wrappedBuffer(array).asReadOnly()).writerIndex();
            default -> buffer.writeBytes(new ByteArrayInputStream(array), length);
        };
    }

    private static Object view(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        return switch (random.nextInt(7)) {
            case 0 -> ByteBufUtil.hexDump(buffer.slice(index, length));
            case 1 -> hexDumpOnce(buffer.retainedSlice(index, length));
            case 2 -> hexDumpOnce(buffer.copy(index, length));
            case 3 -> ByteBufUtil.hexDump(buffer.duplicate().setIndex(index, index + length));
            case 4 -> ByteBufUtil.hexDump(buffer.asReadOnly().slice(index, length));
            case 5 -> buffer.slice(index, length).getIntLE(0);
            default -> Arrays.hashCode(ByteBufUtil.getBytes(buffer, index, length, true));
        };
    }

    private static Object writeThroughView(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        byte[] array = bytes(random, length);
        switch (random.nextInt(6)) {
            case 0 -> buffer.slice(index, length).setBytes(0, array);
            case 1 -> buffer.slice(index, length).setZero(0, length);
            case 2 -> buffer.duplicate().setIndex(index, index).writeBytes(array, 0, Math.min(length, 3));
            case 3 -> buffer.slice(index, length).setLongLE(0, random.nextLong());
            case 4 -> buffer.slice(index, length).slice(0, length).clear().writeBytes(array);
            default -> buffer.setZero(index, length);
        }
        return index;
    }

    private static Object nioBuffers(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        switch (random.nextInt(5)) {
            case 0 -> {
                return buffer.nioBuffer(index, length);
            }
            case 1 -> {
                return buffer.internalNioBuffer(index, length).slice();
            }
            case 2 -> {
                return buffer.nioBuffers(index, length)[0];
            }
            case 3 -> {
                return buffer.nioBuffer();
            }
            default -> {
                ByteBuffer view = buffer.nioBuffer(index, length);
                view.put(bytes(random, length));
                return List.of(view.position(), view.limit(), view.capacity());
            }
        }
    }

    private static Object search(ByteBuf buffer, Random random) {
        byte value = (byte) random.nextInt();
        return switch (random.nextInt(6)) {
            case 0 -> buffer.indexOf(0, buffer.capacity(), value);
            case 1 -> buffer.indexOf(buffer.capacity(), 0, value);
            case 2 -> buffer.bytesBefore(value);
            case 3 -> buffer.forEachByte(found -> found != value);
            case 4 -> buffer.forEachByteDesc(found -> found != value);
            default -> buffer.hashCode();
        };
    }

    private static Object text(ByteBuf buffer, Random random) {
        String text = "Grüße, \u20ac " + random.nextInt();
        int index = index(buffer, random);
        return switch (random.nextInt(4)) {
            case 0 -> buffer.writeCharSequence(text, StandardCharsets.UTF_8);
            case 1 -> buffer.writeCharSequence(text, StandardCharsets.US_ASCII);
            case 2 -> buffer.setCharSequence(index, text, StandardCharsets.UTF_8);
            default ->
                buffer.getCharSequence(index, length(buffer, index, random), StandardCharsets.ISO_8859_1)
                        .toString();
        };
    }

    private static Object move(ByteBuf buffer, Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> buffer.discardReadBytes().readableBytes();
            case 1 -> buffer.discardSomeReadBytes().readableBytes();
            case 2 -> buffer.clear().readableBytes();
            default ->
                buffer.readerIndex(random.nextInt(buffer.writerIndex() + 1)).readableBytes();
        };
    }

    private static Object composite(ByteBuf buffer, Random random) {
        int index = index(buffer, random);
        int length = length(buffer, index, random);
        CompositeByteBuf composite = Unpooled.compositeBuffer();
        try {
            composite.addComponent(true, Unpooled.copyInt(1));
            composite.addComponent(true, buffer.retainedSlice(index, length));
            composite.addComponent(true, buffer.retainedDuplicate());
            if (random.nextBoolean()) {
                composite.setBytes(2, bytes(random, length));
            }
            return ByteBufUtil.hexDump(composite) + composite.copy(3, length).release();
        } finally {
            composite.release();
        }
    }

    private static Object capacity(ByteBuf buffer, Random random) {
        int wanted = random.nextInt(3_000);
        return switch (random.nextInt(4)) {
            case 0 -> buffer.ensureWritable(wanted).isWritable(wanted);
            case 1 -> buffer.ensureWritable(wanted, true) > 0;
            case 2 -> buffer.capacity(wanted).capacity();
            default -> buffer.capacity(random.nextInt(200)).capacity();
        };
    }
}
