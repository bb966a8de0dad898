package io.millrace.launcher.ats.settings;

import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explanations of Traffic Server records (settings) that have no key in Millrace. Of several matching notes, the note
 * with the longest name applies. Stateless.
 */
final class RecordNotes {
    /**
     * An explanation of one record, or of all records with a prefix.
     *
     * @param name name of the record, or a prefix that ends with a dot
     * @param off value with which Traffic Server behaves like Millrace, or several values separated by bars;
     *     {@code *} for every value; null if there is no such value
     * @param why note for the value {@code off}, and for a record without a value: the reason why nothing needs to be
     *     set
     * @param instead note for other values: what is missing, and what to do
     */
    private record Note(String name, @Nullable String off, String why, String instead) {}

    private static final List<Note> NOTES = new ArrayList<>();

    static {
        addProcesses();
        addStorage();
        addRequests();
        addOrigins();
        addSecurity();
        addLogs();
    }

    private RecordNotes() {}

    /** Adds the explanation of a record to its entry. */
    static void explain(String name, @Nullable String value, Entry entry) {
        Note best = null;
        for (Note note : NOTES) {
            boolean fits = name.equals(note.name) || (note.name.endsWith(".") && name.startsWith(note.name));
            if (fits && (best == null || note.name.length() >= best.name.length())) {
                best = note;
            }
        }
        if (best == null) {
            entry.notMapped(
                    "Millrace has no setting for this record, or it is not one of Traffic Server's; see docs/reference/configuration.md");
        } else if ("*".equals(best.off) || value == null || isOff(best, value)) {
            entry.note(best.why.isEmpty() ? "Millrace always behaves this way" : best.why);
        } else {
            entry.notMapped(best.instead);
        }
    }

    private static boolean isOff(Note note, String value) {
        return note.off != null
                && (note.off.equals(value) || List.of(note.off.split("[|]", -1)).contains(value));
    }

    /** Adds a note for records that need no key in Millrace, whatever their value is. */
    private static void never(String name, String why) {
        NOTES.add(new Note(name, "*", why, why));
    }

    /** Adds a note for a record that needs no key if its value is {@code off}; other values have no equivalent. */
    private static void unless(String off, String name, String instead) {
        NOTES.add(new Note(name, off, off.equals("0") ? "the setting is off, as in Millrace" : "", instead));
    }

    /** Adds a note for records that have no equivalent with any value. */
    private static void missing(String name, String instead) {
        NOTES.add(new Note(name, null, "the record is empty", instead));
    }

    private static void addProcesses() {
        String processes =
                "the record concerns the processes, threads and memory of Traffic Server; Millrace has its own";
        for (String name : List.of(
                "exec_thread.",
                "thread.",
                "accept_threads",
                "task_threads",
                "allocator.",
                "memory.",
                "mlock_enabled",
                "core_limit",
                "crash_log_helper",
                "system.",
                "system_clock",
                "cop.",
                "process_manager.",
                "process_server_timeout",
                "env_prep",
                "bin_path",
                "proxy_binary",
                "proxy_binary_opts",
                "manager_binary",
                "cli_binary",
                "watch_script",
                "config_dir",
                "local_state_dir",
                "plugin.plugin_dir",
                "snapshot_dir",
                "lm.",
                "alarm.",
                "alarm_email",
                "alarm_bin",
                "alarm_abs_path",
                "proxy.local.",
                "remote_sync_interval_ms",
                "raw_stat_sync_interval_ms",
                "config_update_interval_ms",
                "stats.",
                "stat_systemV2.",
                "dump_mem_info_frequency",
                "res_track_memory",
                "io.",
                "aio.",
                "hugepages",
                "mgmt.",
                "syslog_facility",
                "jsonrpc.",
                "admin.",
                "header.parse.",
                "http.parse.",
                "net.event_period",
                "net.accept_period",
                "net.poll_timeout",
                "net.throttle_delay",
                "net.retry_delay",
                "net.inactivity_check_frequency")) {
            never(name, processes);
        }
        never("user_name", "the service's unit file sets the user of Millrace");
        never("admin.user_id", "the service's unit file sets the user of Millrace");
        never("admin.number_config_bak", "Millrace does not overwrite configuration files");
        never("admin.", "Millrace is managed with millctl; see docs/reference/millctl.md");
        never(
                "diags.",
                "Millrace's log is written to standard error, which journald stores; see docs/reference/logs.md");
        never(
                "output.logfile",
                "Millrace's log is written to standard error, which journald stores; see docs/reference/logs.md");
        never(
                "output.",
                "Millrace's log is written to standard error, which journald stores; see docs/reference/logs.md");
        missing("vmap.", "for virtual addresses that move between machines use keepalived or a similar program");
        missing(
                "cluster.",
                "Traffic Server itself has no cluster since version 8; each node has its own configuration");
        never(
                "cluster.ethernet_interface",
                "Traffic Server has no cluster since version 8, so the record has no effect");
        missing("body_factory.", "templates are not read; write error_pages");
        unless("0", "body_factory.enable_customizations", "templates are not read; write error_pages");
        unless(
                "1",
                "reverse_proxy.enabled",
                "Millrace is a reverse proxy; requests that no rule maps are forwarded if forward_proxy allows it");
        never("url_remap.filename", "the record is not used: remap.yaml exists and takes precedence");
        never(
                "url_remap.min_rules_required",
                "a configuration with any error is rejected as a whole, and the current one stays in use");
        never(
                "url_remap.acl_behavior_policy",
                "the importer uses the record for the actions allow and deny of remap.config");
        unless("1", "http.enabled", "Millrace listens on the addresses of listen");
        never(
                "http.wait_for_cache",
                "requests during the start wait for the index of the cache, at most for store.open_wait");
        never("http_ui_enabled", "millctl cache list and millctl cache lookup show the content of the cache");
    }

    private static void addStorage() {
        String internals = "the record concerns the internals of Traffic Server's store; Millrace has no such setting";
        for (String name : List.of(
                "cache.threads_per_disk",
                "cache.min_average_object_size",
                "cache.agg_write_backlog",
                "cache.dir.",
                "cache.mutex_retry_delay",
                "cache.target_fragment_size",
                "cache.force_sector_size",
                "cache.alt_rewrite_max_size",
                "cache.volume_filename",
                "cache.storage_filename",
                "cache.hosting_filename",
                "cache.control.filename",
                "cache.read_while_writer",
                "cache.read_while_writer_retry.",
                "cache.read_while_writer.",
                "cache.log.alternate.eviction",
                "cache.log.",
                "cache.shm.",
                "cache.persist_bad_disks",
                "cache.max_disk_errors",
                "cache.hit_evacuate_percent",
                "cache.hit_evacuate_size_limit",
                "cache.initial_scan_wait",
                "cache.hostdb.",
                "cache.http.")) {
            never(name, internals);
        }
        unless("1", "cache.select_alternate", "variants are always selected by Vary (RFC 9111 s4.1)");
        unless("0", "cache.vary_on_user_agent", "use cache.key.fields");
        never("cache.ram_cache.algorithm", "Millrace admits and evicts by W-TinyLFU");
        never("cache.ram_cache.s3fifo.", "Millrace admits and evicts by W-TinyLFU");
        unless("0", "cache.ram_cache.compress", "bodies in RAM are not compressed");
        never("cache.ram_cache.compress_percent", "bodies in RAM are not compressed");
        never("cache.ram_cache_cutoff", "parts of long bodies that are requested repeatedly are kept in RAM too");
        never("cache.enable_checksum", "every block has a checksum, which is verified");
        missing("cache.default_volumes", "volumes are chosen by hosts or by a rule's cache.volume");
    }

    private static void addRequests() {
        unless("1", "http.insert_age_in_response", "Age is always sent (RFC 9111 s5.1)");
        for (String field : List.of("from", "referer", "user_agent", "cookie", "client_ip")) {
            unless("0", "http.anonymize_remove_" + field, "write a rule with remove_request_header");
        }
        unless("", "http.anonymize_other_header_list", "write a rule with remove_request_header");
        missing("http.global_user_agent_header", "write a rule with set_request_header: {User-Agent: VALUE}");
        missing(
                "http.response_server_str",
                "the name in the Server field cannot be changed; via.server decides between millrace and the origin's value");
        unless(
                "0",
                "http.normalize_ae",
                "variants are distinguished by the meaning of Accept-Encoding, and the field is sent to the origin unchanged");
        for (String field : List.of("", "_language", "_encoding", "_charset")) {
            unless(
                    "2",
                    "http.cache.ignore_accept" + field + "_mismatch",
                    "variants are selected by Vary only (RFC 9111 s4.1)");
        }
        never("http.cache.try_compat_key_read", "Millrace does not read the cache of Traffic Server");
        unless("0", "http.cache.enable_default_vary_headers", "use cache.key.fields");
        for (String kind : List.of("text", "images", "other")) {
            missing("http.cache.vary_default_" + kind, "use cache.key.fields, for all types");
        }
        never(
                "http.cache.max_open_write_retries",
                "one request for a URL fetches it; the others wait for this fetch, at most for cache.collapse_wait");
        never(
                "http.cache.max_open_write_retry_timeout",
                "one request for a URL fetches it; the others wait for this fetch, at most for cache.collapse_wait");
        unless(
                "0",
                "http.cache.open_write_fail_action",
                "a request that has waited for cache.collapse_wait goes to the origin itself; Millrace does not answer it with 502 or a stale response for this reason");
        unless(
                "1",
                "http.allow_multi_range",
                "requests for several ranges are answered from a complete stored response, otherwise forwarded");
        unless(
                "0",
                "http.transaction_active_timeout_out",
                "timeouts.transaction limits the whole request, on both sides together");
        missing("http.post_connect_attempts_timeout", "timeouts.origin_connect applies to all methods");
        never("http.default_buffer_size", "buffer sizes are fixed");
        never(
                "http.default_buffer_water_mark",
                "cache.fill_window limits the bytes of a response in memory; see docs/reference/configuration.md");
        never(
                "http.flow_control.",
                "cache.fill_window limits the bytes of a response in memory; see docs/reference/configuration.md");
        unless("1", "http.chunking_enabled", "chunked responses are always sent to clients of HTTP/1.1");
        never("http.chunking.size", "chunk sizes are not configurable");
        unless("1", "http.allow_half_open", "a client that closes its sending side still gets its response");
        unless("1", "http.send_http11_requests", "requests to origins use HTTP/1.1 or HTTP/2, never HTTP/1.0");
        unless("1|2", "http.strict_uri_parsing", "URLs are always parsed by RFC 9110 and RFC 9112");
        unless("1", "http.strict_chunk_parsing", "chunks are always parsed by RFC 9112");
        unless("1", "http.drop_chunked_trailers", "trailers are always dropped");
        missing(
                "http.header_field_max_size",
                "limits.request_header and limits.response_header apply to all fields together");
        unless("0", "http.send_100_continue_response", "100 (Continue) is sent by the origin");
        unless("0", "http.number_of_redirections", "redirections of origins are sent to the client");
        never("http.redirect.", "redirections of origins are sent to the client");
        never("http.redirect_use_orig_cache_key", "redirections of origins are sent to the client");
        never("http.referer_filter", "the importer uses the record for map_with_referer");
        never("http.referer_format_redirect", "Millrace always replaces %r, %f, %t and %o in referer_redirect");
        never("http.referer_default_redirect", "the importer uses the record for map_with_referer");
        never("http.doc_in_cache_skip_dns", "no DNS lookup is made for responses from the cache");
        unless("0", "http.max_proxy_cycles", "a request that came through this proxy before is always refused");
        unless("0", "http.slow.log.threshold", "the access log has the duration of each request");
        never("http.milestones.", "the access log has the duration of each request");
        never(
                "http.no_dns_just_forward_to_parent",
                "if a rule has a group of origins, only the names of parents are looked up");
        unless(
                "0",
                "http.use_client_target_addr",
                "the host of the request is looked up; the destination of a diverted connection is not used");
        unless("0", "http.forward_connect_method", "CONNECT is controlled by forward_proxy, never by a rule");
        unless("0", "http.forward.proxy_auth_to_parent", "Proxy-Authorization is never forwarded");
        unless(
                "0",
                "http.auth_server_session_private",
                "a connection to an origin is reused for requests of any client");
        never("http2.", "HTTP/2 has its own limits; see section http2 in docs/reference/configuration.md");
        unless("1", "http2.enabled", "set http2: false at each address of listen with tls");
        missing("quic.", "HTTP/3 is not supported");
        unless("-1", "http.websocket.max_number_of_connections", "tunnels count as connections: limits.connections");
    }

    private static void addOrigins() {
        never(
                "http.connect_attempts_",
                "the other addresses of a host are always tried; for other hosts see origins[].retry");
        for (String name : List.of(
                "max_retries", "max_retries_suspect_server", "max_retries_dead_server", "max_retries_down_server")) {
            unless(
                    "0",
                    "http.connect_attempts_" + name,
                    "each address of a host is tried once; a group of origins with retry makes more attempts");
        }
        for (String name : List.of("rr_retries", "retry_backoff_base")) {
            never(
                    "http.connect_attempts_" + name,
                    "the other addresses of a host are always tried; for other hosts see origins[].retry");
        }
        never("http.connect.", "origins are marked down, see origin.markdown and origins[].markdown");
        never("http.connect.down.policy", "origins are marked down, see origin.markdown and origins[].markdown");
        never("http.per_server.connection.", "requests over the limit wait, see origin.queue_max; metrics count them");
        unless(
                "both",
                "http.per_server.connection.match",
                "origin.connections_total_max counts the connections to each host and port");
        unless("0", "http.per_server.connection.min", "connections are not opened in advance");
        unless("0", "http.origin_min_keep_alive_connections", "connections are not opened in advance");
        never("http.server_session_sharing.", "each event loop keeps its own connections, for one host and port");
        never("http.share_server_sessions", "each event loop keeps its own connections, for one host and port");
        unless("1", "http.keep_alive_enabled_in", "set limits.requests_per_connection: 1");
        unless("1", "http.keep_alive_enabled_out", "set origin.keep_alive: 0");
        unless("1", "http.keep_alive_post_out", "connections are kept after POST as after other methods");
        never(
                "http.parent_proxy.",
                "each group of origins has its own settings: origins[].retry and origins[].markdown");
        never(
                "http.parent_proxy.self_detect",
                "a group never sends requests to this proxy itself; see self in docs/guide/origins.md");
        unless(
                "0",
                "http.parent_proxy.disable_parent_markdowns",
                "hosts of a group are marked down, see origins[].markdown");
        unless("0", "http.parent_proxy.disable_connect_tunneling", "CONNECT uses forward_proxy.origins too");
        unless(
                "1",
                "http.parent_proxy_routing_enable",
                "Traffic Server up to version 7 then bypasses parents; the groups of parent.config were imported: remove them if they were not used");
        never("dns.", "names are looked up by Millrace's own resolver, see docs/guide/origins.md");
        unless("0", "dns.dedicated_thread", "the event loops send DNS queries themselves without blocking");
        unless("0", "dns.search_default_domains", "names are looked up without a search domain");
        missing("dns.local_ipv4", "the system chooses the local address for DNS queries");
        missing("dns.local_ipv6", "the system chooses the local address for DNS queries");
        missing("dns.resolv_conf", "/etc/resolv.conf is read; other servers can be set in dns.name_servers");
        unless("0", "dns.connection_mode", "DNS queries use UDP, and TCP for truncated answers");
        never("dns.splitDNS.", "the importer uses the record for splitdns.config");
        never("dns.splitdns.", "the importer uses the record for splitdns.config");
        never("hostdb.", "the DNS cache is limited by dns.hosts_max and the TTLs of the records");
        unless("0", "hostdb.strict_round_robin", "addresses of a host are used in turn");
        never("hostdb.strict_round_robin", "addresses of a host are used in turn");
        missing("socks.", "Millrace does not connect to origins through SOCKS");
        unless("0", "socks.socks_needed", "Millrace does not connect to origins through SOCKS");
        missing("icp.", "Millrace does not support ICP");
        unless("0", "icp.enabled", "Millrace does not support ICP");
    }

    private static void addSecurity() {
        missing("net.per_client.", "limits.per_client has the limits of one client");
        unless(
                "0",
                "net.max_requests_in",
                "requests are limited for each client only: limits.per_client and request_limits");
        never("net.default_inactivity_timeout", "each phase of a request has its own timeout, see section timeouts");
        never("net.", "the record concerns the sockets of Traffic Server; Millrace uses fixed socket options");
        unless("0", "net.sock_mss_in", "sockets use the system's segment size");
        missing("ssl.", "see docs/guide/https.md");
        for (String name : List.of(
                "ssl.server.cert.path",
                "ssl.server.private_key.path",
                "ssl.enabled",
                "ssl.number.threads",
                "ssl.server.multicert.")) {
            never(name, "the importer uses the record for addresses with tls");
        }
        missing("ssl.server.TLSv1_3.", "the cipher suites of TLS 1.3 are fixed");
        never("ssl.server.honor_cipher_order", "the order of tls.ciphers applies");
        never("ssl.server.dhparams_file", "no supported cipher suite uses it");
        missing("ssl.server.cert_chain.filename", "append the chain to the file of the certificate");
        unless("1", "ssl.server.session_ticket.enable", "session tickets are issued for all names");
        never("ssl.server.session_ticket.", "session tickets use the settings of BoringSSL");
        never("ssl.server.ticket_key.filename", "keys of session tickets are generated, and renewed every 12 hours");
        never("ssl.server.cert_compression.", "certificates are sent compressed (zlib) to clients that support it");
        for (String version : List.of("SSLv2", "SSLv3", "TLSv1", "TLSv1_1")) {
            unless("0", "ssl." + version, "TLS below 1.2 is not supported");
            unless("0", "ssl." + version + ".enabled", "TLS below 1.2 is not supported");
        }
        for (String version : List.of("TLSv1_2", "TLSv1_3", "TLSv1_2.enabled", "TLSv1_3.enabled")) {
            unless("1", "ssl." + version, "no address of listen has tls");
        }
        never("ssl.session_cache", "session resumption uses the settings of BoringSSL");
        never("ssl.session_cache.", "session resumption uses the settings of BoringSSL");
        missing("ssl.client.verify.server.", "set origin.tls.verify: on, off, name, chain or warn");
        missing("ssl.client.CA.", "set origin.tls.ca_file");
        never("ssl.ocsp.", "responders are queried after half of an answer's validity, see docs/guide/https.md");
        missing("ssl.ocsp.response.path", "the proxy requests answers and stores them in its state directory");
        unless("0", "ssl.server.max_early_data", "early data is not accepted");
        unless("0", "ssl.server.allow_early_data_params", "early data is not accepted");
        unless("0", "ssl.allow_client_renegotiation", "clients cannot renegotiate");
        unless("0", "ssl.ktls.enabled", "TLS is processed in the worker, not in the kernel");
        unless("0", "ssl.client.certification_level", "no address of listen has tls");
        unless(
                "2",
                "http.host_sni_policy",
                "a Host with a stricter policy for client certificates than the name in SNI is always refused");
        missing("ssl.client.sni_policy", "set origin.tls.sni or origin.tls.name");
    }

    private static void addLogs() {
        String accessLogSettings = "log.access sets path, format and rotation of the access logs";
        never("log.", accessLogSettings);
        unless("1", "log.sampling_frequency", "log.access[].sample sets it, for the logs of logging.yaml");
        never("log.max_space_mb_for_logs", "log.access.rotate_keep limits the number of files");
        never("log.auto_delete_rolled_files", "log.access.rotate_keep limits the number of files");
        never("log.max_space_mb_headroom", "log.access.rotate_keep limits the number of files");
        missing("log.collation_mode", "log.access[].target: syslog sends lines to another machine");
        unless("0", "log.collation_mode", "log.access[].target: syslog sends lines to another machine");
        never("log.custom_logs_enabled", "the importer uses the record for logs_xml.config");
        never("log2.", accessLogSettings);
    }
}
