package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.cache.CompressionPlan;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The notes about directives that no other class of the import has translated. Stateless. */
final class Notes {
    private static final String FILES = "Millrace serves no files: put a web server behind it";
    private static final String PROCESS =
            "the directive concerns the processes, threads and memory of nginx; Millrace has its own";
    private static final String SOCKETS =
            "the directive concerns the sockets and buffers of nginx; Millrace has its own";

    /** Notes about directives that need no equivalent. */
    private static final Map<String, String> NO_EFFECT = new HashMap<>();
    /** Notes about directives that have no equivalent. */
    private static final Map<String, String> MISSING = new HashMap<>();

    /** Directives that other classes translate where a rule uses them. */
    private static final Set<String> TRANSLATED = Set.of("""
            proxy_pass proxy_set_header grpc_set_header proxy_cache proxy_cache_valid proxy_cache_key
            proxy_cache_use_stale proxy_cache_lock proxy_cache_lock_timeout proxy_cache_bypass proxy_no_cache
            proxy_cache_background_update proxy_ignore_headers proxy_hide_header proxy_pass_header add_header
            allow deny proxy_next_upstream proxy_next_upstream_tries proxy_next_upstream_timeout proxy_redirect
            proxy_ssl_verify proxy_ssl_server_name proxy_ssl_name proxy_ssl_trusted_certificate
            proxy_ssl_certificate proxy_ssl_certificate_key proxy_ssl_protocols client_max_body_size
            client_header_timeout client_body_timeout keepalive_timeout keepalive_requests proxy_connect_timeout
            proxy_read_timeout send_timeout resolver resolver_timeout large_client_header_buffers
            ssl_certificate ssl_certificate_key ssl_protocols ssl_ciphers ssl_ecdh_curve ssl_client_certificate
            ssl_verify_client ssl_crl ssl_stapling ssl_session_ticket_key http2 set_real_ip_from real_ip_header
            limit_conn_zone log_format access_log proxy_request_buffering limit_except proxy_set_body return
            rewrite set limit_req limit_req_zone limit_req_dry_run expires more_set_headers more_clear_headers proxy_bind
            http2_max_concurrent_streams gzip gzip_types gzip_min_length gzip_comp_level brotli brotli_types
            brotli_min_length brotli_comp_level zstd zstd_types zstd_min_length
            zstd_comp_level mirror_request_body""".strip().split("\\s+", -1));

    static {
        put(NO_EFFECT, PROCESS, """
                user worker_processes worker_rlimit_nofile worker_priority pid daemon master_process
                worker_cpu_affinity worker_connections multi_accept use accept_mutex load_module env
                timer_resolution lock_file working_directory worker_shutdown_timeout pcre_jit thread_pool
                worker_aio_requests worker_rlimit_core accept_mutex_delay debug_connection ssl_engine error_log""");
        put(NO_EFFECT, SOCKETS, """
                sendfile tcp_nopush tcp_nodelay aio directio output_buffers sendfile_max_chunk
                reset_timedout_connection postpone_output client_body_buffer_size client_header_buffer_size
                client_body_in_file_only client_body_temp_path lingering_close lingering_time lingering_timeout
                connection_pool_size request_pool_size read_ahead proxy_buffering proxy_buffers proxy_buffer_size
                proxy_busy_buffers_size proxy_temp_path proxy_max_temp_file_size proxy_temp_file_write_size
                proxy_send_lowat proxy_socket_keepalive proxy_headers_hash_max_size proxy_headers_hash_bucket_size
                proxy_send_timeout proxy_ignore_client_abort ssl_buffer_size http2_recv_buffer_size http2_chunk_size
                client_body_in_single_buffer keepalive_disable chunked_transfer_encoding
                grpc_buffer_size proxy_limit_rate grpc_read_timeout
                grpc_send_timeout grpc_connect_timeout""");
        put(NO_EFFECT, "the directive concerns tables of nginx", """
                types_hash_max_size types_hash_bucket_size server_names_hash_bucket_size server_names_hash_max_size
                variables_hash_max_size variables_hash_bucket_size map_hash_bucket_size map_hash_max_size zone state
                hostnames volatile""");
        put(NO_EFFECT, "the directive concerns static files, which Millrace does not serve", """
                default_type types index open_file_cache open_file_cache_valid open_file_cache_min_uses
                open_file_cache_errors log_not_found etag if_modified_since autoindex autoindex_exact_size
                autoindex_localtime disable_symlinks charset_types override_charset gzip_static autoindex_format
                max_ranges brotli_static zstd_static""");
        put(NO_EFFECT, "the directive concerns the memory in which nginx compresses; Millrace has its own", """
                gzip_buffers gzip_window gzip_hash gzip_no_buffer brotli_buffers brotli_window zstd_buffers
                gunzip_buffers""");
        put(NO_EFFECT, "Millrace manages sessions and tickets itself", """
                ssl_session_cache ssl_session_timeout ssl_session_tickets ssl_prefer_server_ciphers ssl_dhparam
                ssl_early_data proxy_ssl_session_reuse ssl_handshake_timeout""");
        put(NO_EFFECT, "Millrace requests and verifies OCSP answers itself", """
                ssl_stapling_verify ssl_trusted_certificate ssl_stapling_responder ssl_ocsp ssl_stapling_file""");
        put(NO_EFFECT, "the Server field of responses is that of the origin; via.server changes it", "server_tokens");
        put(NO_EFFECT, "connections to origins are persistent, with HTTP/1.1 or HTTP/2", "proxy_http_version");
        put(NO_EFFECT, "stale responses are always validated", "proxy_cache_revalidate");
        put(
                NO_EFFECT,
                "a request that waits for another one stops waiting after cache.collapse_wait",
                "proxy_cache_lock_age");
        put(NO_EFFECT, "GET and HEAD share a stored response", "proxy_cache_convert_head");
        put(
                NO_EFFECT,
                "any range is served from stored parts, missing parts are fetched",
                "proxy_force_ranges proxy_cache_max_range_offset slice");
        put(
                NO_EFFECT,
                "redirections have the host of the request",
                "server_name_in_redirect port_in_redirect absolute_redirect");
        put(NO_EFFECT, "the directive concerns the log messages of nginx; Millrace has its own", """
                limit_req_log_level limit_conn_log_level rewrite_log log_subrequest open_log_file_cache
                uninitialized_variable_warn""");
        put(NO_EFFECT, "paths keep empty segments, as clients send them", "merge_slashes");
        put(NO_EFFECT, "requests with an invalid field name are always refused", "ignore_invalid_headers");
        put(NO_EFFECT, "the last trusted address in X-Forwarded-For is used", "real_ip_recursive");
        put(NO_EFFECT, "with satisfy any, one passed access rule is enough; see the notes at these rules", "satisfy");
        put(
                NO_EFFECT,
                "the directive concerns authentication, which is not translated",
                "auth_basic_user_file auth_request_set");
        put(MISSING, FILES, """
                root alias try_files internal proxy_store proxy_store_access dav_methods create_full_put_path
                random_index mp4 flv autoindex_header add_before_body
                add_after_body ssi empty_gif stub_status""");
        put(
                MISSING,
                "the importer does not translate the directive; write error_pages",
                "error_page recursive_error_pages");
        put(
                MISSING,
                "content that the origin compresses is not decompressed; if compression is on, origins are asked for"
                        + " the encoding of the client",
                "gunzip");
        put(NO_EFFECT, "requests beyond a limit are answered with 429", "limit_req_status limit_conn_status");
        put(MISSING, "limits of connections have no dry run", "limit_conn_dry_run");
        put(MISSING, "bandwidth is not limited", "limit_rate limit_rate_after");
        put(MISSING, "responses get no trailer fields", "add_trailer");
        put(
                MISSING,
                "write a rule with set_request_header or remove_request_header",
                "more_set_input_headers more_clear_input_headers");
        put(MISSING, "contents are not changed", """
                sub_filter sub_filter_once sub_filter_types charset source_charset image_filter proxy_cookie_domain
                proxy_cookie_path proxy_cookie_flags sub_filter_last_modified userid""");
        put(MISSING, "error responses of origins are passed on", "proxy_intercept_errors");
        put(MISSING, "origins are reached by HTTP; put a web server with this protocol between", """
                fastcgi_pass uwsgi_pass scgi_pass memcached_pass""");
        put(
                MISSING,
                "requests of other methods than GET and HEAD are not answered from the cache",
                "proxy_cache_methods");
        put(
                MISSING,
                "the importer does not translate the directive; write mirror with the origin that gets the copies",
                "mirror");
        put(MISSING, "origins get the method, fields and content of the client's request", """
                proxy_method proxy_set_body proxy_pass_request_headers proxy_pass_request_body""");
        put(MISSING, "set purge.allow; clients send PURGE for the URL", "proxy_cache_purge");
        put(MISSING, "no variable can depend on the client's country or address", """
                geo geoip_country geoip2 geoip_city""");
        put(
                MISSING,
                "only constant variables, and those of proxy_cache_bypass and proxy_no_cache, are translated",
                "map");
        put(
                MISSING,
                "the importer translates the directive only if proxy_pass uses the variable, because remap[].split"
                        + " selects only origins",
                "split_clients");
        put(MISSING, "the importer cannot translate the condition; write an element of rules with when", "if");
        put(
                MISSING,
                "the importer does not translate the directive; map_with_referer restricts a rule by Referer",
                "valid_referers");
        put(MISSING, "only HTTP is proxied: no plain TCP or UDP, and no mail", "stream mail");
        put(MISSING, "keys with a passphrase are not supported; remove it with: openssl pkey", "ssl_password_file");
        put(MISSING, "chains of any length are verified", "ssl_verify_depth proxy_ssl_verify_depth");
        put(MISSING, "suites for origins are those of Java", "proxy_ssl_ciphers");
        put(MISSING, "HTTP/3 is not supported", """
                http3 quic_retry quic_gso ssl_reject_handshake""");
        put(MISSING, "fields with an underscore in their name are not removed", "underscores_in_headers");
        put(
                MISSING,
                "the importer does not translate the directive; write origins[].health_check",
                "health_check check match");
    }

    private Notes() {}

    private static void put(Map<String, String> table, String note, String names) {
        for (String name : names.strip().split("\\s+", -1)) {
            table.put(name, note);
        }
    }

    /** Adds notes to the directives of a block that were not handled, recursively. */
    static void finish(Workspace workspace, List<Directive> directives) {
        Set<Entry> used = new HashSet<>();
        collect(directives, used);
        finish(workspace, directives, "", used);
    }

    /**
     * Collects the lines of translated directives. If a file is included twice, a line that was translated in one
     * place gets no note in the other.
     */
    private static void collect(List<Directive> directives, Set<Entry> used) {
        for (Directive each : directives) {
            if (each.isHandled()) {
                used.add(each.entry());
            }
            collect(each.children(), used);
        }
    }

    private static void finish(
            Workspace workspace, List<Directive> directives, String enclosingReason, Set<Entry> used) {
        for (Directive each : directives) {
            if (!each.isHandled() && !used.contains(each.entry())) {
                addNote(workspace, each, enclosingReason);
            }
            boolean section = List.of("http", "server", "events").contains(each.name()) && each.hasBlock();
            boolean isTranslatedBlock =
                    section || List.of("location", "upstream").contains(each.name());
            String reason = enclosingReason.isEmpty() && !isTranslatedBlock
                    ? "the directive belongs to " + each.name() + " of "
                            + each.entry().place()
                    : enclosingReason;
            finish(workspace, each.children(), reason, used);
        }
    }

    private static void addNote(Workspace workspace, Directive each, String enclosingReason) {
        String name = each.name();
        String compression = CompressionPlan.note(each);
        if (name.equals("map") && each.arg(0).equals("$http_upgrade")) {
            each.note("Millrace writes Connection itself when it forwards Upgrade");
            each.children().forEach(child -> child.note("Millrace writes Connection itself"));
            return;
        }
        if (name.equals("if") && Conditions.refuses(each)) {
            each.notMapped("requests that meet the condition are not refused");
            workspace.warn("requests that meet a condition are not refused: see "
                    + each.entry().place());
            return;
        }
        if (List.of("http", "events", "server").contains(name) && each.hasBlock()) {
            each.note(enclosingReason.isEmpty() ? "the block contains other directives" : enclosingReason);
            return;
        }
        if (!enclosingReason.isEmpty()) {
            each.notMapped(enclosingReason);
            return;
        }
        if (name.equals("rewrite")) {
            each.notMapped("the path is not changed; write a rule with rewrite");
        } else if (name.equals("proxy_cache_min_uses")) {
            minUses(each);
        } else if (name.equals("satisfy") && each.arg(0).equals("all")) {
            each.note("the value is all, as in Millrace");
        } else if (compression != null) {
            each.note(compression);
        } else if (NO_EFFECT.containsKey(name)) {
            each.note(String.valueOf(NO_EFFECT.get(name)));
        } else if (isDefault(each)) {
            each.note("the value is " + each.arg(0) + ", as in Millrace");
        } else if (MISSING.containsKey(name)) {
            each.notMapped(String.valueOf(MISSING.get(name)));
        } else if (TRANSLATED.contains(name)) {
            each.note("no imported rule uses the directive");
        } else if (name.matches("(fastcgi|uwsgi|scgi)_temp_path")) {
            each.note(PROCESS);
        } else if (name.matches("(fastcgi|uwsgi|scgi|memcached)_.*")) {
            each.notMapped("origins are reached by HTTP; put a web server with this protocol between");
        } else if (name.matches(".*lua.*|js_.*|perl.*")) {
            each.notMapped("Millrace has no scripting language");
        } else if (name.equals("location")) {
            each.notMapped("the location leads to no origin that Millrace can reach");
        } else {
            each.notMapped("the importer does not know the directive");
        }
    }

    /** Returns true if Millrace always behaves as this value of the directive requires. */
    private static boolean isDefault(Directive each) {
        boolean switches = List.of(
                        "gzip",
                        "brotli",
                        "zstd",
                        "gunzip",
                        "expires",
                        "ssi",
                        "autoindex",
                        "proxy_intercept_errors",
                        "http3",
                        "mirror",
                        "charset",
                        "proxy_store",
                        "proxy_bind",
                        "limit_req_dry_run",
                        "limit_conn_dry_run",
                        "sub_filter_once")
                .contains(each.name());
        boolean passes = List.of("proxy_pass_request_headers", "proxy_pass_request_body", "underscores_in_headers")
                .contains(each.name());
        return (switches && each.arg(0).equals("off")) || (passes && each.isOn());
    }

    private static void minUses(Directive each) {
        if (each.arg(0).equals("1")) {
            each.markHandled().matchesDefaultOf("store.disk_admission");
        } else {
            each.notMapped("responses are stored at the first request; with store.disk_admission: second_hit, a full"
                    + " volume stores only responses that were requested before");
        }
    }
}
