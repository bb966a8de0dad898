package io.millrace.store.engine;

import io.millrace.store.ResidentReader;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.engine.object.EncodedHeads;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.memory.RamTier;
import org.jspecify.annotations.Nullable;

/** A reader of the RAM tier for one thread. The reader counts its hits and misses. */
final class RamReader<H> implements ResidentReader<H> {
    private final RamTier<ResidentObject<H>>.Reader reader;
    private final EncodedHeads<H> heads;
    private final StoreCounters counters;
    private final ObjectChanges<H> changes;

    RamReader(RamTier<ResidentObject<H>> ram, EncodedHeads<H> heads, StoreCounters counters, ObjectChanges<H> changes) {
        reader = ram.reader();
        this.heads = heads;
        this.counters = counters;
        this.changes = changes;
    }

    @Override
    public void begin() {
        reader.begin();
    }

    @Override
    public @Nullable StoredObject<H> get(StoreKey key) {
        ResidentObject<H> object = changes.isClosed() ? null : reader.get(key.hashLow(), key.bytes());
        if (object != null && !heads.ensureDecoded(object)) {
            object = null;
        }
        (object == null ? counters.ramMisses : counters.ramHits).increment();
        return object;
    }

    @Override
    public void end() {
        reader.end();
    }

    @Override
    public void close() {
        reader.close();
    }
}
