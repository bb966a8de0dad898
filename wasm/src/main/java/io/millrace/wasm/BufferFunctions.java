package io.millrace.wasm;

import io.millrace.wasm.abi.Status;
import io.millrace.wasm.body.BodyBuffer;
import org.jspecify.annotations.Nullable;

/** The host functions for buffers: contents and configurations. Stateless. */
final class BufferFunctions {
    // The numbers of buffers in the ABI.
    private static final int RESPONSE_BODY = 1;
    private static final int CALL_RESPONSE_BODY = 4;
    private static final int VM_CONFIGURATION = 6;
    private static final int PLUGIN_CONFIGURATION = 7;

    private BufferFunctions() {}

    /** Returns a buffer that the module can only read; null if there is no such buffer with this number. */
    private static byte @Nullable [] readOnlyBuffer(WasmInstance guest, long number) {
        return switch ((int) number) {
            case CALL_RESPONSE_BODY ->
                guest.callResponse() == null ? null : guest.callResponse().body();
            case VM_CONFIGURATION -> guest.shared().settings().vmBytes();
            case PLUGIN_CONFIGURATION -> guest.shared().settings().pluginBytes();
            default -> null;
        };
    }

    private static @Nullable BodyBuffer body(WasmInstance guest, long number) {
        HttpContext http = guest.http();
        return http == null || number != RESPONSE_BODY ? null : http.body();
    }

    /** Parameters: buffer, offset, limit of bytes, pointer to the address, pointer to the length. */
    static int get(WasmInstance guest, long[] args) {
        long offset = args[1] & 0xffff_ffffL;
        long limit = args[2] & 0xffff_ffffL;
        BodyBuffer body = body(guest, args[0]);
        if (body != null) {
            return offset > body.length()
                    ? Status.BAD_ARGUMENT
                    : guest.copyToGuest(body.copy((int) offset, limit), args[3], args[4]);
        }
        byte[] buffer = readOnlyBuffer(guest, args[0]);
        if (buffer == null) {
            return Status.NOT_FOUND;
        }
        if (offset > buffer.length) {
            return Status.BAD_ARGUMENT;
        }
        int length = (int) Math.min(limit, buffer.length - offset);
        byte[] part = new byte[length];
        System.arraycopy(buffer, (int) offset, part, 0, length);
        return guest.copyToGuest(part, args[3], args[4]);
    }

    /** Parameters: buffer, pointer to the length, pointer to flags. */
    static int status(WasmInstance guest, long[] args) {
        BodyBuffer body = body(guest, args[0]);
        int length;
        if (body != null) {
            length = body.length();
        } else {
            byte[] buffer = readOnlyBuffer(guest, args[0]);
            if (buffer == null) {
                return Status.NOT_FOUND;
            }
            length = buffer.length;
        }
        guest.memory().writeInt(args[1], length);
        guest.memory().writeInt(args[2], 0);
        return Status.OK;
    }

    /** Parameters: buffer, first byte to replace, number of bytes to replace, address and length of the value. */
    static int set(WasmInstance guest, long[] args) {
        BodyBuffer body = body(guest, args[0]);
        if (body == null) {
            return readOnlyBuffer(guest, args[0]) == null && args[0] != RESPONSE_BODY
                    ? Status.UNIMPLEMENTED
                    : Status.BAD_ARGUMENT;
        }
        long start = args[1] & 0xffff_ffffL;
        long size = args[2] & 0xffff_ffffL;
        if (!body.hasRoom(start, size, args[4] & 0xffff_ffffL)) {
            guest.shared()
                    .log()
                    .once(
                            "body growth",
                            "a module's change of content was refused: the limit is twice the received content plus 1 MiB");
            return Status.INTERNAL_FAILURE;
        }
        return body.replace(start, size, guest.memory().bytes(args[3], args[4]));
    }
}
