package io.millrace.store.engine;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import java.nio.file.Path;
import java.util.List;

/** A JVM that stores objects in a loop. Tests start and kill it. Arguments: directory, action. */
final class InventoryProcess {
    private InventoryProcess() {}

    /** With {@code store}, stores in a loop and prints when the inventory is open; with {@code list}, lists once. */
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
