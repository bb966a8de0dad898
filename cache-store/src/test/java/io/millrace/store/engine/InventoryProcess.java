package io.millrace.store.engine;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import java.nio.file.Path;
import java.util.List;

/** A JVM that stores objects in a loop. Tests start and kill it. Argument: directory. */
final class InventoryProcess {
    private InventoryProcess() {}

    /** Stores in a loop, and prints when the inventory is open. */
    public static void main(String[] arguments) {
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .ramBytes(1 << 20)
                .inventoryDelayNanos(0)
                .volumes(List.of(new VolumeConfig(Path.of(arguments[0]), 16 << 20)));
        TestStore test = new TestStore(config, new SystemFileIo());
        Listings.list(test.store, null, new Listings.Collected(key -> true, 1));
        System.out.println("open");
        for (long i = 0; ; i++) {
            test.put("http://host/" + i % 3000, "head", TestStore.body(i, 200));
            if (i == 5000) {
                test.sync();
                System.out.println("busy");
            }
        }
    }
}
