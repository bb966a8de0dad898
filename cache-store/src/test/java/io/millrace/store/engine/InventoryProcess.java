package io.millrace.store.engine;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import java.nio.file.Path;
import java.util.List;

/** A JVM of its own that stores objects without end; started and killed by tests. Arguments: directory, what to do. */
final class InventoryProcess {
    private InventoryProcess() {}

    /** {@code store} stores without end and says when the inventory is open; {@code list} lists once. */
    public static void main(String[] arguments) {
        StoreConfig.Builder config = StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .ramBytes(1 << 20)
                .inventoryDelayNanos(0)
                .volumes(List.of(new VolumeConfig(Path.of(arguments[0]), 16 << 20)));
        TestStore test = new TestStore(config, new SystemFileIo());
        if (arguments[1].equals("list")) {
            test.put("http://host/a", "head", TestStore.body(1, 100));
            System.out.println("obstacle: "
                    + Listings.list(test.store, null, new Listings.Collected(key -> true, 1))
                            .obstacle());
            System.out.println("head: " + test.head("http://host/a"));
            test.close();
            return;
        }
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
