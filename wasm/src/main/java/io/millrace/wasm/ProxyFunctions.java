package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.proxy.spi.Answer;
import io.millrace.wasm.abi.FieldEdit;
import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.abi.Pairs;
import io.millrace.wasm.abi.SharedValues;
import io.millrace.wasm.abi.Status;
import io.millrace.wasm.callout.CalloutResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The host functions of the Proxy-Wasm ABI 0.2.1 that this host implements. All other functions of the ABI
 * return {@link Status#UNIMPLEMENTED}.
 *
 * <p>Stateless: the state is in the {@link WasmInstance} that calls.
 */
final class ProxyFunctions {
    /** The functions by name. */
    static final Map<String, GuestCall.Typed> ALL = all();

    // The numbers of field maps in the ABI.
    private static final int CALL_RESPONSE_FIELDS = 6;
    private static final int CALL_RESPONSE_TRAILERS = 7;

    private ProxyFunctions() {}

    private static Map<String, GuestCall.Typed> all() {
        Map<String, GuestCall.Typed> all = new HashMap<>();
        add(all, "proxy_log", "iii", ProxyFunctions::log);
        add(all, "proxy_get_log_level", "i", (guest, args) -> {
            guest.memory().writeInt(args[0], guest.shared().log().level());
            return Status.OK;
        });
        add(all, "proxy_get_current_time_nanoseconds", "i", (guest, args) -> {
            guest.memory().writeLong(args[0], System.currentTimeMillis() * 1_000_000L);
            return Status.OK;
        });
        add(all, "proxy_set_tick_period_milliseconds", "i", (guest, args) -> {
            guest.tickMillis(args[0] & 0xffff_ffffL);
            return Status.OK;
        });
        add(all, "proxy_done", "", (guest, args) -> Status.OK);
        add(all, "proxy_set_effective_context", "i", ProxyFunctions::setEffectiveContext);
        add(all, "proxy_continue_stream", "i", ProxyFunctions::continueStream);
        // Names of the ABI 0.1.0 that some SDKs still use.
        add(all, "proxy_continue_request", "", (guest, args) -> continueMessage(guest));
        add(all, "proxy_continue_response", "", (guest, args) -> continueMessage(guest));
        add(all, "proxy_http_call", "iiiiiiiiii", CalloutFunctions::call);
        add(all, "proxy_send_local_response", "iiiiiiii", ProxyFunctions::sendLocalResponse);
        add(all, "proxy_get_buffer_bytes", "iiiii", BufferFunctions::get);
        add(all, "proxy_get_buffer_status", "iii", BufferFunctions::status);
        add(all, "proxy_set_buffer_bytes", "iiiii", BufferFunctions::set);
        add(all, "proxy_get_property", "iiii", ProxyFunctions::getProperty);
        add(all, "proxy_set_property", "iiii", ProxyFunctions::setProperty);
        addFields(all);
        addShared(all);
        // Modules of the C++ SDK call this function after their memory has grown.
        all.put("emscripten_notify_memory_growth", new GuestCall.Typed("i", false, (guest, args) -> Status.OK));
        return Map.copyOf(all);
    }

    private static void add(Map<String, GuestCall.Typed> all, String name, String parameters, GuestCall call) {
        all.put(name, new GuestCall.Typed(parameters, true, call));
    }

    private static void addFields(Map<String, GuestCall.Typed> all) {
        add(all, "proxy_get_header_map_size", "ii", (guest, args) -> {
            HeaderMap fields = fields(guest, args[0]);
            if (fields == null) {
                return Status.BAD_ARGUMENT;
            }
            guest.chargeBytes(fields.bytes());
            guest.memory().writeInt(args[1], fields.pairs().length);
            return Status.OK;
        });
        add(all, "proxy_get_header_map_pairs", "iii", (guest, args) -> {
            HeaderMap fields = fields(guest, args[0]);
            if (fields == null) {
                return Status.BAD_ARGUMENT;
            }
            guest.chargeBytes(fields.bytes());
            return guest.copyToGuest(fields.pairs(), args[1], args[2]);
        });
        add(all, "proxy_set_header_map_pairs", "iii", (guest, args) -> {
            List<String> pairs = Pairs.decode(guest.memory().bytes(args[1], args[2]));
            HeaderMap fields = changeable(guest, args[0]);
            if (pairs == null) {
                return Status.PARSE_FAILURE;
            }
            if (fields == null) {
                return Status.BAD_ARGUMENT;
            }
            guest.chargeBytes(fields.bytes());
            return fields.replaceAll(pairs);
        });
        add(all, "proxy_get_header_map_value", "iiiii", (guest, args) -> {
            HeaderMap fields = fields(guest, args[0]);
            if (fields == null) {
                return Status.BAD_ARGUMENT;
            }
            String value = fields.get(guest.memory().text(args[1], args[2], ISO_8859_1));
            return value == null ? Status.NOT_FOUND : guest.copyToGuest(value.getBytes(ISO_8859_1), args[3], args[4]);
        });
        add(all, "proxy_add_header_map_value", "iiiii", (guest, args) -> edit(FieldEdit.Kind.ADD, guest, args));
        add(all, "proxy_replace_header_map_value", "iiiii", (guest, args) -> edit(FieldEdit.Kind.REPLACE, guest, args));
        add(all, "proxy_remove_header_map_value", "iii", (guest, args) -> edit(FieldEdit.Kind.REMOVE, guest, args));
    }

    private static void addShared(Map<String, GuestCall.Typed> all) {
        add(all, "proxy_get_shared_data", "iiiii", ProxyFunctions::getSharedData);
        add(all, "proxy_set_shared_data", "iiiii", (guest, args) -> guest.shared()
                .values()
                .set(
                        guest.memory().text(args[0], args[1], UTF_8),
                        guest.memory().bytes(args[2], args[3]),
                        (int) args[4]));
        add(all, "proxy_define_metric", "iiii", (guest, args) -> {
            String name = guest.memory().text(args[1], args[2], UTF_8);
            int number = guest.shared().metrics().define((int) args[0], name);
            if (number < 0) {
                return -number;
            }
            guest.memory().writeInt(args[3], number);
            return Status.OK;
        });
        add(all, "proxy_increment_metric", "il", (guest, args) -> guest.shared()
                .metrics()
                .increment((int) args[0], args[1]));
        add(all, "proxy_record_metric", "il", (guest, args) -> guest.shared()
                .metrics()
                .record((int) args[0], args[1]));
        add(all, "proxy_get_metric", "ii", (guest, args) -> {
            Long value = guest.shared().metrics().value((int) args[0]);
            if (value == null) {
                return Status.NOT_FOUND;
            }
            guest.memory().writeLong(args[1], value);
            return Status.OK;
        });
    }

    private static int log(WasmInstance guest, long[] args) {
        int level = (int) args[0];
        if (level < 0 || level > 5) {
            return Status.BAD_ARGUMENT;
        }
        guest.shared().log().ofModule(level, guest.memory().text(args[1], args[2], UTF_8));
        return Status.OK;
    }

    private static int setEffectiveContext(WasmInstance guest, long[] args) {
        return guest.enter((int) args[0]) ? Status.OK : Status.BAD_ARGUMENT;
    }

    private static int continueStream(WasmInstance guest, long[] args) {
        return args[0] < 0 || args[0] > 1 ? Status.BAD_ARGUMENT : continueMessage(guest);
    }

    private static int continueMessage(WasmInstance guest) {
        HttpContext http = guest.http();
        if (http == null) {
            return Status.BAD_ARGUMENT;
        }
        http.proceed();
        if (!http.hasMoreContent()) {
            guest.resolved(http);
        }
        return Status.OK;
    }

    /** Parameters: status, details, their length, body, its length, fields, their length, gRPC status. */
    private static int sendLocalResponse(WasmInstance guest, long[] args) {
        HttpContext http = guest.http();
        List<String> fields = Pairs.decode(guest.memory().bytes(args[5], args[6]));
        if (http == null || fields == null || args[0] < 200 || args[0] > 599) {
            return Status.BAD_ARGUMENT;
        }
        Answer.Builder answer = Answer.status((int) args[0]);
        for (int i = 0; i < fields.size(); i += 2) {
            answer.field(fields.get(i), fields.get(i + 1));
        }
        int status =
                http.answer(answer.body(guest.memory().bytes(args[3], args[4])).build());
        if (status == Status.OK) {
            guest.resolved(http);
        }
        return status;
    }

    /** Parameters: path, its length, pointer to the address of the value, pointer to its length. */
    private static int getProperty(WasmInstance guest, long[] args) {
        String path = path(guest, args);
        byte[] value =
                switch (path) {
                    case "plugin_name", "plugin_vm_id" -> guest.shared().name().getBytes(UTF_8);
                    case "plugin_root_id" -> guest.shared().settings().rootId().getBytes(UTF_8);
                    default -> guest.http() == null ? null : guest.http().property(path);
                };
        return value == null ? Status.NOT_FOUND : guest.copyToGuest(value, args[2], args[3]);
    }

    private static int setProperty(WasmInstance guest, long[] args) {
        HttpContext http = guest.http();
        String path = path(guest, args);
        byte[] value = guest.memory().bytes(args[2], args[3]);
        return http == null || path.isEmpty() ? Status.BAD_ARGUMENT : http.setProperty(path, value);
    }

    /** Returns the path of a property. Some SDKs write a zero byte after the last word. */
    private static String path(WasmInstance guest, long[] args) {
        String path = guest.memory().text(args[0], args[1], ISO_8859_1);
        return path.endsWith("\0") ? path.substring(0, path.length() - 1) : path;
    }

    private static @Nullable HeaderMap fields(WasmInstance guest, long number) {
        if (number == CALL_RESPONSE_FIELDS || number == CALL_RESPONSE_TRAILERS) {
            CalloutResponse response = guest.callResponse();
            if (response == null) {
                return null;
            }
            // The HTTP client does not pass trailers on.
            return number == CALL_RESPONSE_FIELDS ? response.fields() : new HeaderMap();
        }
        HttpContext http = guest.http();
        return http == null ? null : charged(guest, http.fields((int) number));
    }

    private static @Nullable HeaderMap changeable(WasmInstance guest, long number) {
        HttpContext http = guest.http();
        return http == null || !http.mayChange((int) number) ? null : charged(guest, http.fields((int) number));
    }

    /**
     * Counts one instruction for each field against the limit of instructions, because the functions of a map search
     * its fields one after the other.
     */
    private static @Nullable HeaderMap charged(WasmInstance guest, @Nullable HeaderMap fields) {
        if (fields != null) {
            guest.charge(fields.size());
        }
        return fields;
    }

    /** Parameters: map, name, its length, value, its length. A removal has neither value nor its length. */
    private static int edit(FieldEdit.Kind kind, WasmInstance guest, long[] args) {
        String name = guest.memory().text(args[1], args[2], ISO_8859_1);
        String value = kind == FieldEdit.Kind.REMOVE ? "" : guest.memory().text(args[3], args[4], ISO_8859_1);
        HeaderMap fields = changeable(guest, args[0]);
        int status = fields == null ? Status.BAD_ARGUMENT : fields.edit(kind, name, value);
        if (status == Status.UNIMPLEMENTED) {
            guest.shared().log().onceFor("pseudo field", "a module cannot change a pseudo field", name);
        }
        return status;
    }

    /** Parameters: key, its length, pointers to the address of the value, to its length, and to its version. */
    private static int getSharedData(WasmInstance guest, long[] args) {
        SharedValues.Value value = guest.shared().values().get(guest.memory().text(args[0], args[1], UTF_8));
        if (value == null) {
            return Status.NOT_FOUND;
        }
        guest.memory().writeInt(args[4], value.version());
        return guest.copyToGuest(value.bytes(), args[2], args[3]);
    }
}
