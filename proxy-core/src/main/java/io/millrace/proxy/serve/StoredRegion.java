package io.millrace.proxy.serve;

import io.millrace.proxy.http.FileContent;
import io.millrace.store.FileSlice;
import io.netty.channel.DefaultFileRegion;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;

/**
 * A slice of a stored body for Netty to send with sendfile. The slice is asked before each try whether it may still be sent: once
 * its volume was closed for good the connection ends instead. The shared channel is left open.
 *
 * <p>Takes over the slice. Confined to the channel's event loop.
 */
final class StoredRegion extends DefaultFileRegion implements FileContent {
    private final FileSlice slice;

    StoredRegion(FileSlice slice) {
        super(slice.channel(), slice.position(), slice.length());
        this.slice = slice;
    }

    /** Called by the native transports before each sendfile. */
    @Override
    public void open() throws IOException {
        if (!slice.isOpen()) {
            throw new IOException("the volume was closed while a stored body was sent from it");
        }
        super.open();
    }

    @Override
    public long transferTo(WritableByteChannel target, long position) throws IOException {
        open();
        return super.transferTo(target, position);
    }

    @Override
    protected void deallocate() {
        slice.release();
    }
}
