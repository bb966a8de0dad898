package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The functions of {@code wasi_snapshot_preview1} that compilers link into modules: clocks, random bytes, and writing
 * to the standard streams, which goes to the log. There are no files, arguments and environment variables. Stateless.
 */
final class WasiFunctions {
    /** The functions by name. */
    static final Map<String, GuestCall.Typed> ALL = all();

    /** The result of functions that this host does not implement. */
    static final int NO_SYSTEM_CALL = 52;

    // Error numbers of WASI.
    private static final int SUCCESS = 0;
    private static final int BAD_DESCRIPTOR = 8;
    private static final int INVALID = 28;
    private static final int RANDOM_BYTES_MAX = 1 << 20;
    private static final int TEXT_BYTES_MAX = 64 * 1024;
    private static final int VECTORS_MAX = 1024;
    private static final int SUBSCRIPTION_BYTES = 48;
    private static final int EVENT_BYTES = 32;

    /** Thrown if a module has called {@code proc_exit}. */
    static final class ExitException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ExitException(int code) {
            super("the module has ended itself with code " + code);
        }
    }

    private WasiFunctions() {}

    private static Map<String, GuestCall.Typed> all() {
        Map<String, GuestCall.Typed> all = new HashMap<>();
        for (String name : new String[] {"args_get", "environ_get"}) {
            add(all, name, "ii", (guest, args) -> SUCCESS);
        }
        for (String name : new String[] {"args_sizes_get", "environ_sizes_get"}) {
            add(all, name, "ii", (guest, args) -> {
                guest.memory().writeInt(args[0], 0);
                guest.memory().writeInt(args[1], 0);
                return SUCCESS;
            });
        }
        add(all, "clock_time_get", "ili", (guest, args) -> {
            boolean isWall = args[0] == 0;
            guest.memory().writeLong(args[2], isWall ? System.currentTimeMillis() * 1_000_000L : System.nanoTime());
            return SUCCESS;
        });
        add(all, "clock_res_get", "ii", (guest, args) -> {
            guest.memory().writeLong(args[1], 1_000_000L);
            return SUCCESS;
        });
        add(all, "random_get", "ii", (guest, args) -> {
            if ((args[1] & 0xffff_ffffL) > RANDOM_BYTES_MAX) {
                return INVALID;
            }
            guest.chargeBytes(args[1]);
            byte[] random = new byte[(int) args[1]];
            ThreadLocalRandom.current().nextBytes(random);
            guest.memory().write(args[0], random);
            return SUCCESS;
        });
        add(all, "fd_write", "iiii", WasiFunctions::write);
        add(all, "fd_read", "iiii", (guest, args) -> BAD_DESCRIPTOR);
        add(all, "fd_close", "i", (guest, args) -> BAD_DESCRIPTOR);
        add(all, "fd_seek", "ilii", (guest, args) -> BAD_DESCRIPTOR);
        add(all, "fd_fdstat_get", "ii", WasiFunctions::describe);
        add(all, "fd_fdstat_set_flags", "ii", (guest, args) -> SUCCESS);
        add(all, "fd_prestat_get", "ii", (guest, args) -> BAD_DESCRIPTOR);
        add(all, "fd_prestat_dir_name", "iii", (guest, args) -> BAD_DESCRIPTOR);
        add(all, "sched_yield", "", (guest, args) -> SUCCESS);
        add(all, "poll_oneoff", "iiii", WasiFunctions::poll);
        all.put("proc_exit", new GuestCall.Typed("i", false, (guest, args) -> {
            throw new ExitException((int) args[0]);
        }));
        return Map.copyOf(all);
    }

    private static void add(Map<String, GuestCall.Typed> all, String name, String parameters, GuestCall call) {
        all.put(name, new GuestCall.Typed(parameters, true, call));
    }

    /** Parameters: descriptor, vectors of addresses and lengths, their number, pointer to the written bytes. */
    private static int write(WasmInstance guest, long[] args) {
        if (args[0] != 1 && args[0] != 2) {
            return BAD_DESCRIPTOR;
        }
        if (args[2] < 0 || args[2] > VECTORS_MAX) {
            return INVALID;
        }
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        int written = 0;
        for (int i = 0; i < args[2]; i++) {
            int address = guest.memory().readInt(args[1] + 8L * i);
            int length = guest.memory().readInt(args[1] + 8L * i + 4);
            byte[] part = guest.memory().bytes(address, Math.min(length, TEXT_BYTES_MAX));
            if (text.size() < TEXT_BYTES_MAX) {
                text.writeBytes(part);
            }
            written += length;
        }
        String message = text.toString(UTF_8).stripTrailing();
        if (!message.isEmpty()) {
            // Text for the standard error stream is logged as a warning, other text with the level info.
            guest.shared().log().ofModule(args[0] == 2 ? 3 : 2, message);
        }
        guest.memory().writeInt(args[3], written);
        return SUCCESS;
    }

    /** Describes the standard streams as character devices. Parameters: descriptor, pointer to the description. */
    private static int describe(WasmInstance guest, long[] args) {
        if (args[0] < 0 || args[0] > 2) {
            return BAD_DESCRIPTOR;
        }
        byte[] description = new byte[24];
        description[0] = 2;
        guest.memory().write(args[1], description);
        return SUCCESS;
    }

    /**
     * Reports every clock as expired at once, because a module must not sleep. Parameters: subscriptions, events, their
     * number, pointer to the number of events.
     */
    private static int poll(WasmInstance guest, long[] args) {
        if (args[2] <= 0 || args[2] > VECTORS_MAX) {
            return INVALID;
        }
        for (int i = 0; i < args[2]; i++) {
            byte[] event = new byte[EVENT_BYTES];
            byte[] subscription = guest.memory().bytes(args[0] + (long) i * SUBSCRIPTION_BYTES, SUBSCRIPTION_BYTES);
            // The event contains the user data and the type of its subscription.
            System.arraycopy(subscription, 0, event, 0, Long.BYTES);
            event[10] = subscription[Long.BYTES];
            guest.memory().write(args[1] + (long) i * EVENT_BYTES, event);
        }
        guest.memory().writeInt(args[3], (int) args[2]);
        return SUCCESS;
    }
}
