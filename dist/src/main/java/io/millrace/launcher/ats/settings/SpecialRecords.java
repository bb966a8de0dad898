package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.SourceAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The importer of those Traffic Server records for which {@link RecordTable} does not suffice. Some must be read
 * together, others need a special conversion. Confined to one thread.
 */
public final class SpecialRecords {
    /** The value that is written for "no limit" if a key has no special value for it. */
    private static final String UNLIMITED = "1000000";

    /** The note for a setting that is not imported, because in Millrace it would also store no-store responses. */
    public static final String NO_STORE_TOO =
            "no-store would also be ignored, which versions before 10 obey; set cache.ignore_server_no_cache: true if no origin sends no-store for data that must not be stored";

    /** Processes the value of a record. */
    private interface RecordReader {
        void read(Rec rec) throws BadValueException;
    }

    private final ImportState state;
    private final Draft draft;

    /** Creates an import of the records of {@code state}. */
    public SpecialRecords(ImportState state) {
        this.state = state;
        this.draft = state.draft();
    }

    /** Writes the keys for the records. */
    public void read() {
        importVia();
        importForwardedFields();
        importCacheKeys();
        importCollapsing();
        importMemory();
        importConnections();
        importSourceAddress();
        importProcesses();
        importNameLookups();
        importProxyProtocol();
        importResolution();
        ignoreServerNoCache();
        importPost();
        importStrictTransportSecurity();
    }

    /**
     * Imports the records of HSTS. Traffic Server replaces a Strict-Transport-Security field of the origin; Millrace
     * keeps it.
     */
    private void importStrictTransportSecurity() {
        boolean[] on = new boolean[1];
        ifSet("ssl.hsts_max_age", rec -> {
            long seconds = Quantity.integer(rec.text());
            on[0] = seconds >= 0;
            if (on[0]) {
                draft.set("tls.hsts.max_age", Quantity.seconds(seconds), rec.entry());
                rec.entry().note("a Strict-Transport-Security field of the origin is not changed");
            } else {
                rec.entry().note("no Strict-Transport-Security is added");
            }
        });
        ifSet("ssl.hsts_include_subdomains", rec -> {
            if (on[0]) {
                draft.set(
                        "tls.hsts.include_subdomains",
                        Boolean.toString(Quantity.integer(rec.text()) != 0),
                        rec.entry());
            } else {
                rec.entry().note("no Strict-Transport-Security is added");
            }
        });
    }

    /** Imports the caching of POST. Traffic Server stores responses by URL, regardless of the request content. */
    private void importPost() {
        ifSet("http.cache.post_method", rec -> {
            boolean on = Quantity.integer(rec.text()) != 0;
            draft.set("cache.post_method", Boolean.toString(on), rec.entry());
            if (on) {
                rec.entry()
                        .notMapped(
                                "a response to POST is stored only if its Content-Location is the URL of the request (RFC 9110 s9.3.3)");
            }
        });
    }

    /**
     * Imports ignore_server_no_cache of versions before 10, which still obey no-store. Later versions ignore no-store
     * too, as Millrace does, so the table of records covers them.
     */
    private void ignoreServerNoCache() {
        if (state.has("records.yaml")) {
            return;
        }
        ifSet("http.cache.ignore_server_no_cache", rec -> {
            if (Quantity.integer(rec.text()) == 0) {
                rec.entry().matchesDefaultOf("cache.ignore_server_no_cache");
            } else {
                rec.entry().notMapped(NO_STORE_TOO);
            }
        });
    }

    private void ifSet(String name, RecordReader reading) {
        Rec rec = state.records().getAndMarkProcessed(name);
        if (rec == null) {
            return;
        }
        if (rec.value() == null) {
            rec.entry().note("the record is empty; Traffic Server's default applies");
            return;
        }
        try {
            reading.read(rec);
        } catch (BadValueException e) {
            rec.file().problem(rec.entry(), "proxy.config." + name + ": " + e.getMessage());
        }
    }

    /**
     * Imports the records of Via and Server. Until version 5, {@code verbose_via_str} set the detail of the Via codes.
     */
    private void importVia() {
        Rec verbose = state.records().getAndMarkProcessed("http.verbose_via_str");
        long codes = 0;
        try {
            codes = verbose == null ? 0 : Math.min(2, Quantity.integer(verbose.text()));
        } catch (BadValueException e) {
            String name = verbose == null ? "" : verbose.name();
            if (verbose != null) {
                verbose.file().problem(verbose.entry(), name + ": " + e.getMessage());
            }
        }
        long viaDetail = codes;
        ifSet("http.insert_response_via_str", rec -> {
            long level = Quantity.integer(rec.text());
            List<String> words = List.of("none", "name", "short", "full", "stack");
            long shown = level == 1 ? 1 + viaDetail : level;
            if (shown < 0 || shown >= words.size()) {
                throw new BadValueException("'" + level + "' is not one of 0 to 4");
            }
            draft.set("via.response", words.get((int) shown), rec.entry());
            if (verbose != null) {
                verbose.entry().recordKey("via.response");
            }
        });
        if (verbose != null && !state.records().isOn("http.insert_response_via_str", false)) {
            verbose.entry().note("insert_response_via_str is off");
        }
        draft.setDefault("via.response", "none", "proxy.config.http.insert_response_via_str");
        ifSet("http.response_server_enabled", rec -> {
            long value = Quantity.integer(rec.text());
            if (value < 0 || value > 2) {
                throw new BadValueException("'" + value + "' is not one of 0 to 2");
            }
            draft.set("via.server", List.of("pass", "own", "missing").get((int) value), rec.entry());
        });
        draft.setDefault("via.server", "own", "proxy.config.http.response_server_enabled");
    }

    private void importForwardedFields() {
        Rec squid = state.records().getAndMarkProcessed("http.insert_squid_x_forwarded_for");
        Rec forwarded = state.records().getAndMarkProcessed("http.insert_forwarded");
        boolean addresses = state.records().isOn("http.insert_squid_x_forwarded_for", true);
        boolean standard =
                !state.records().value("http.insert_forwarded", "none").equals("none");
        Rec client = state.records().getAndMarkProcessed("http.insert_client_ip");
        List<String> fields = new ArrayList<>();
        if (addresses) {
            fields.add("x-forwarded-for");
        }
        if (standard) {
            fields.add("forwarded");
        }
        if (state.records().isOn("http.insert_client_ip", true)) {
            fields.add("client-ip");
        }
        DraftNode node = fields.isEmpty()
                ? draft.root().put("access.forwarded_fields", "none")
                : draft.root().putWords("access.forwarded_fields", fields);
        if (squid == null && forwarded == null && client == null) {
            node.remark(
                    "Traffic Server's default (proxy.config.http.insert_squid_x_forwarded_for and insert_client_ip); without the line: x-forwarded-for, x-forwarded-proto, x-forwarded-host");
        }
        if (client != null) {
            node.from(client.entry());
        }
        if (squid != null) {
            node.from(squid.entry());
            squid.entry().note("X-Forwarded-For of a request is passed on only from access.trusted_proxies");
        }
        if (forwarded != null) {
            node.from(forwarded.entry());
            if (standard) {
                forwarded.entry().note("the members of Forwarded cannot be configured");
            }
        }
    }

    private void importCacheKeys() {
        ifSet("http.cache.ignore_query", rec -> {
            boolean on = Quantity.integer(rec.text()) != 0;
            draft.set("cache.key.ignore_query", Boolean.toString(on), rec.entry());
            if (on) {
                draft.set("cache.key.send_whole_query", "true", rec.entry());
                rec.entry()
                        .note("origins get the query as in Traffic Server; this is safe only if no stored response"
                                + " depends on the query");
            }
        });
    }

    /**
     * Imports the collapsing of concurrent requests. Traffic Server polls for the response; Millrace waits for the same
     * total time.
     */
    private void importCollapsing() {
        Rec retries = state.records().getAndMarkProcessed("http.cache.max_open_read_retries");
        Rec interval = state.records().getAndMarkProcessed("http.cache.open_read_retry_time");
        try {
            long count = retries == null || retries.value() == null ? -1 : Quantity.integer(retries.value());
            long millis = interval == null || interval.value() == null ? 10 : Quantity.integer(interval.value());
            if (retries != null && retries.value() != null) {
                draft.set("cache.collapse_wait", Quantity.millis(Math.max(0, count) * millis), retries.entry());
                retries.entry()
                        .note(
                                "requests wait at most this time in total for the head of another request's response, and continue as soon as it arrives");
            } else {
                draft.setDefault("cache.collapse_wait", "0", "proxy.config.http.cache.max_open_read_retries");
            }
            if (interval != null) {
                interval.entry()
                        .note("requests do not poll; "
                                + (count > 0 ? "the value is used to compute cache.collapse_wait" : "waiting is off"));
            }
            if (retries != null && retries.value() == null) {
                retries.entry().note("the record is empty; Traffic Server's default applies");
            }
        } catch (BadValueException e) {
            Rec bad = retries == null ? interval : retries;
            if (bad != null) {
                bad.file().problem(bad.entry(), "proxy.config." + bad.name() + ": " + e.getMessage());
            }
        }
    }

    private void importMemory() {
        ifSet("cache.ram_cache.size", rec -> {
            long bytes = Quantity.integer(rec.text());
            if (bytes < 0) {
                rec.entry().matchesDefaultOf("cache.ram_size");
                rec.entry()
                        .note("the size is automatic: Traffic Server uses 10 MiB for each GiB of disk, Millrace uses"
                                + " a quarter of the memory");
            } else {
                draft.set("cache.ram_size", Quantity.size(bytes), rec.entry());
            }
        });
    }

    private void importConnections() {
        List<Rec> limiting = new ArrayList<>();
        long[] lowestLimit = {Long.MAX_VALUE};
        for (String name : List.of("net.max_connections_in", "net.connections_throttle")) {
            ifSet(name, rec -> {
                long count = Quantity.integer(rec.text());
                if (count > 0) {
                    lowestLimit[0] = Math.min(lowestLimit[0], count);
                    limiting.add(rec);
                } else {
                    rec.entry().note("the record sets no limit of its own");
                }
            });
        }
        for (Rec rec : limiting) {
            draft.set("limits.connections", Long.toString(lowestLimit[0]), rec.entry());
            if (!rec.text().equals(Long.toString(lowestLimit[0])) && limiting.size() > 1) {
                rec.entry().note("the lower value of net.max_connections_in and net.connections_throttle applies");
            }
        }
        String note = "the limit applies to each host and port; requests over the limit wait, see origin.queue_max";
        Consumer<String> limit = name -> ifSet(name, rec -> {
            long count = Quantity.integer(rec.text());
            if (count <= 0) {
                draft.set("origin.connections_max", UNLIMITED, rec.entry());
            } else {
                draft.set("origin.connections_total_max", Long.toString(count), rec.entry());
            }
            rec.entry().note(count <= 0 ? "the value sets no limit" : note);
        });
        limit.accept("http.server_max_connections");
        limit.accept("http.per_server.connection.max");
        draft.setDefault("origin.connections_max", UNLIMITED, "proxy.config.http.per_server.connection.max, no limit");
    }

    /** Imports the local addresses for connections to origins, at most one of each address family. */
    private void importSourceAddress() {
        for (String name : List.of("proxy.local.outgoing_ip_to_bind", "outgoing_ip_to_bind")) {
            ifSet(name, rec -> {
                List<String> words = new ArrayList<>();
                for (String word : RecordTable.split(rec.text())) {
                    boolean brackets = word.startsWith("[") && word.endsWith("]");
                    words.add(brackets ? word.substring(1, word.length() - 1) : word);
                }
                try {
                    SourceAddress.of(words);
                } catch (InvalidValueException e) {
                    throw new BadValueException(e.problem());
                }
                draft.set("origin.source_address", words, rec.entry());
            });
        }
    }

    private void importProcesses() {
        boolean automatic = state.records().isOn("exec_thread.autoconfig.enabled", true);
        ifSet("exec_thread.autoconfig.enabled", rec -> rec.entry()
                .note(
                        automatic
                                ? "Millrace starts one event loop for each core"
                                : "exec_thread.limit sets the number of event loops"));
        ifSet("exec_thread.autoconfig.scale", rec -> rec.entry()
                .note("Millrace starts one event loop for each core, because event loops never block"));
        ifSet("exec_thread.limit", rec -> {
            if (automatic) {
                rec.entry().note("exec_thread.autoconfig is on");
            } else {
                draft.set("worker.event_loops", Long.toString(Quantity.integer(rec.text())), rec.entry());
            }
        });
        ifSet("exec_thread.watchdog.timeout_ms", rec -> {
            long millis = Quantity.integer(rec.text());
            if (millis > 0) {
                draft.set("worker.heartbeat_timeout", Quantity.millis(millis), rec.entry());
            } else {
                rec.entry().note("a worker that hangs is always replaced, after worker.heartbeat_timeout");
            }
        });
    }

    private void importNameLookups() {
        // Lifetime of a name lookup. 0: the TTL of the DNS record; 1: hostdb.timeout; 2: the lower of both; 3: the
        // higher of both.
        long[] mode = {0};
        ifSet("hostdb.ttl_mode", rec -> {
            mode[0] = Quantity.integer(rec.text());
            rec.entry().note(mode[0] == 0 ? "the TTLs of DNS records apply" : "see dns.ttl_min and dns.ttl_max");
        });
        ifSet("hostdb.timeout", rec -> {
            String time = Quantity.seconds(Quantity.integer(rec.text()));
            if (mode[0] == 0) {
                rec.entry().note("because of hostdb.ttl_mode the TTLs of DNS records apply");
                return;
            }
            if (mode[0] != 2) {
                draft.set("dns.ttl_min", time, rec.entry());
            }
            if (mode[0] != 3) {
                draft.set("dns.ttl_max", time, rec.entry());
            }
        });
        if (mode[0] != 0 && !state.records().isSet("hostdb.timeout")) {
            ifSet("hostdb.ttl_mode", rec -> rec.entry()
                    .notMapped("the mode needs dns.ttl_min or dns.ttl_max; hostdb.timeout is not set (one day)"));
        }
    }

    private void importProxyProtocol() {
        ifSet("http.proxy_protocol_out", rec -> {
            long version = Quantity.integer(rec.text());
            if (version == 0) {
                rec.entry().notMapped("0, the received version, has no equivalent; set proxy_protocol_out: v1 or v2");
            } else if (version < -1 || version > 2) {
                throw new BadValueException("'" + version + "' is not one of -1 to 2");
            } else {
                draft.set("proxy_protocol_out", version < 0 ? "none" : "v" + version, rec.entry());
            }
        });
    }

    private void importResolution() {
        ifSet("hostdb.ip_resolve", rec -> {
            String first = null;
            for (String word : RecordTable.split(rec.text())) {
                first = first == null && word.startsWith("ipv") ? word : first;
            }
            setPreference(first, rec);
        });
    }

    private void setPreference(@Nullable String first, Rec rec) {
        if (first == null) {
            rec.entry().notMapped("the value contains neither ipv4 nor ipv6; see dns.prefer");
            return;
        }
        draft.set("dns.prefer", first, rec.entry());
        if (rec.text().contains("only") || rec.text().contains("none")) {
            rec.entry().note("addresses of the other family are still tried afterwards");
        }
    }
}
