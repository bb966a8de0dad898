package io.millrace.store.engine.filling;

import io.millrace.store.ReadCallback;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.BlockReclaimedException;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.Replies;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;

/**
 * A read of a part of one block on disk. Marks a missing or damaged block as lost.
 *
 * @param body the body that contains the block. It may be stored only in part. The caller holds a reference to it
 * @param readers the body's readers, notified if the block is lost
 * @param map locations of the body's blocks on disk
 * @param request the block and the part to read
 * @param headLocation location of the object's head record
 */
record BlockReading(
        FillingBody<?> body,
        BodyReaders readers,
        BlockMap map,
        DiskBlock request,
        long headLocation,
        Executor replyOn,
        ReadCallback reply) {
    /** Queues the read for an I/O thread. */
    void start(ReadPool pool) {
        pool.read(
                request.length(),
                () -> readNow(pool),
                () -> Replies.failed(replyOn, reply, new IOException("the queue of reads is full")));
    }

    private void readNow(ReadPool pool) {
        ByteBuf content;
        try {
            content = map.read(request.number(), request.location(), request.tag(), request.from(), request.length());
        } catch (IOException e) {
            failed(pool, e);
            Replies.failed(replyOn, reply, e);
            return;
        }
        Replies.content(replyOn, reply, content);
    }

    private void failed(ReadPool pool, IOException e) {
        boolean damaged = e instanceof DamagedRecordException;
        if (damaged) {
            pool.damaged();
            map.dropDamaged(body.key(), headLocation, request.number(), request.location());
        }
        if ((damaged || e instanceof BlockReclaimedException) && map.volume().isWorking()) {
            readers.markLost(map, request);
        }
    }
}
