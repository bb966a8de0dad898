package io.millrace.store.engine;

import io.millrace.store.CacheStore;
import io.millrace.store.HeadCodec;
import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;

/** Opens stores on a file system that loses power or fails on demand, for tests of other modules. */
public final class FaultyStores {
    private FaultyStores() {}

    /** Opens a store with one small volume and without RAM tier. */
    public static <H> CacheStore<H> open(HeadCodec<H> codec, FaultyFileIo io) throws IOException {
        return new StoreEngine<>(StoreContractTest.volumes(4).ramBytes(0).build(), codec, io);
    }
}
