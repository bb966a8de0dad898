package io.millrace.store.engine;

import io.millrace.store.FileSlice;
import io.millrace.store.io.StoreFile;
import java.nio.channels.FileChannel;

/** A slice that holds its object, and so the segment, and the file's descriptor. */
record HeldSlice(Counted object, StoreFile.Descriptor descriptor, long position, int length) implements FileSlice {
    @Override
    public FileChannel channel() {
        return descriptor.channel();
    }

    @Override
    public boolean isOpen() {
        return descriptor.isOpen();
    }

    @Override
    public void release() {
        descriptor.release();
        object.release();
    }
}
