package io.millrace.wasm;

import java.nio.charset.Charset;
import java.util.function.LongConsumer;
import run.endive.runtime.Memory;

/**
 * The memory of an instance, for host functions. Every address is checked before the proxy allocates anything. Confined
 * to one thread at a time.
 */
final class GuestMemory {
    /** Thrown if a module has passed an address outside its memory. */
    static final class AddressException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        AddressException(long address, long length) {
            super("address outside the memory of the module: address=" + address + ", length=" + length);
        }
    }

    private final Memory memory;
    private final LongConsumer onCopy;

    /** @param onCopy called with the number of bytes before each copy; if it throws an exception, nothing is copied */
    GuestMemory(Memory memory, LongConsumer onCopy) {
        this.memory = memory;
        this.onCopy = onCopy;
    }

    /** The number of pages of 64 KiB by which the memory may still grow. */
    int pagesLeft() {
        return memory.maximumPages() - memory.pages();
    }

    private int checked(long address, long length) {
        long start = address & 0xffff_ffffL;
        long bytes = length & 0xffff_ffffL;
        if (start + bytes > (long) memory.pages() * WasmSettings.PAGE_BYTES) {
            throw new AddressException(start, bytes);
        }
        return (int) start;
    }

    /** Copies bytes out of the memory. */
    byte[] bytes(long address, long length) {
        int start = checked(address, length);
        onCopy.accept(length & 0xffff_ffffL);
        return memory.readBytes(start, (int) length);
    }

    /** Copies a text out of the memory. */
    String text(long address, long length, Charset charset) {
        return new String(bytes(address, length), charset);
    }

    int readInt(long address) {
        return memory.readInt(checked(address, Integer.BYTES));
    }

    void writeInt(long address, int value) {
        memory.writeI32(checked(address, Integer.BYTES), value);
    }

    void writeLong(long address, long value) {
        memory.writeLong(checked(address, Long.BYTES), value);
    }

    void write(long address, byte[] bytes) {
        int start = checked(address, bytes.length);
        onCopy.accept(bytes.length);
        memory.write(start, bytes);
    }
}
