package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.nginx.NginxImport;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that an imported configuration of nginx has the same results as nginx. */
class NginxSideBySideTest extends ImportSideBySideFixture {
    private static final String CONFIGURATION = """
            daemon off;
            master_process off;
            pid ROOT/nginx.pid;
            error_log ROOT/error.log;
            events { worker_connections 512; }
            http {
              access_log off;
              client_body_temp_path ROOT/body;
              proxy_temp_path ROOT/proxy;
              fastcgi_temp_path ROOT/fastcgi;
              uwsgi_temp_path ROOT/uwsgi;
              scgi_temp_path ROOT/scgi;
              proxy_cache_path ROOT/cache keys_zone=one:1m max_size=64m;
              upstream pool { server ORIGIN; }
              server {
                listen 127.0.0.1:PORT default_server;
                server_name first.example;
                location / { proxy_pass http://ORIGIN; }
              }
              server {
                listen 127.0.0.1:PORT;
                server_name paths.example *.wild.example;
                location / { proxy_pass http://ORIGIN/root/; proxy_set_header Host $host; }
                location /a/ { proxy_pass http://ORIGIN/x/y/; }
                location /a/long/ { proxy_pass http://ORIGIN; }
                location ^~ /strong/ { proxy_pass http://pool; }
                location ~ ^/(api|rpc)/ { proxy_pass http://ORIGIN; }
                location /strip/ { rewrite ^/strip/(.*)$ /$1 break; proxy_pass http://ORIGIN; }
                location /closed/ { deny all; proxy_pass http://ORIGIN; }
                location /here/ { allow 127.0.0.1; deny all; proxy_pass http://ORIGIN; }
                location /there/ { allow 192.0.2.1; deny all; proxy_pass http://ORIGIN; }
              }
              server {
                listen 127.0.0.1:PORT;
                server_name cached.example;
                proxy_set_header Host $host;
                proxy_cache one;
                location / { proxy_pass http://ORIGIN; }
                location /valid/ { proxy_pass http://ORIGIN; proxy_cache_valid 200 302 10m; proxy_cache_valid 404 1m; }
                location /off/ { proxy_pass http://ORIGIN; proxy_cache off; }
                location /args/ { proxy_pass http://ORIGIN; proxy_cache_bypass $arg_fresh; proxy_no_cache $arg_fresh; }
              }
              server {
                listen 127.0.0.1:PORT;
                server_name fields.example;
                add_header X-Frame-Options DENY;
                rewrite ^/blog/(\\d+)/(.*)$ http://fields.example/archive/$1/$2 permanent;
                location / {
                  proxy_pass http://ORIGIN;
                  proxy_set_header X-Edge one;
                  proxy_hide_header X-Origin;
                }
                location /own/ { proxy_pass http://ORIGIN; add_header X-Frame-Options SAMEORIGIN always; }
                location /gone/ { return 410; }
                location /old/ { return 302 http://fields.example/new; }
              }
              server {
                listen 127.0.0.1:PORT;
                server_name strict.example;
                if ($request_method !~ ^(GET|HEAD)$) { return 405; }
                location / { proxy_pass http://ORIGIN; }
              }
            }
            """;

    private static final String REDIRECTIONS = """
            daemon off;
            master_process off;
            pid ROOT/nginx.pid;
            error_log ROOT/error.log;
            events { worker_connections 512; }
            http {
              access_log off;
              server { listen 127.0.0.1:PORT default_server; server_name _; return 301 https://$host$request_uri; }
              server { listen 127.0.0.1:PORT; server_name new.example; return 302 http://other.example$request_uri; }
              server { listen 127.0.0.1:PORT; server_name keep.example; return 308 https://keep.example$request_uri; }
              server {
                listen 127.0.0.1:PORT;
                server_name paths.example;
                location /old/ { rewrite ^/old/(.*)$ http://paths.example/new/$1 permanent; }
                location /tmp/ { return 302 http://tmp.example$request_uri; }
              }
              server {
                listen 127.0.0.1:PORT;
                server_name .below.example;
                rewrite ^ http://www.below.test$request_uri? permanent;
              }
            }
            """;

    private static final String SITES = """
            daemon off;
            master_process off;
            pid ROOT/nginx.pid;
            error_log ROOT/error.log;
            events { worker_connections 512; }
            http {
              access_log off;
              client_body_temp_path ROOT/body;
              proxy_temp_path ROOT/proxy;
              fastcgi_temp_path ROOT/fastcgi;
              uwsgi_temp_path ROOT/uwsgi;
              scgi_temp_path ROOT/scgi;
              proxy_cache_path ROOT/cache keys_zone=one:1m max_size=64m;
              proxy_set_header Host $host;
              server {
                listen 127.0.0.1:PORT default_server;
                server_name a.example;
                proxy_cache one;
                add_header X-Frame-Options DENY;
                if ($http_user_agent ~* (badbot|scraper)) { return 403; }
                if ($arg_old) { return 301 http://a.example/new; }
                if ($http_x_mode !~* ^(on|)$) { return 400; }
                location / {
                  if ($arg_stop) { return 410; }
                  proxy_pass http://ORIGIN;
                }
                location = /exact { proxy_pass http://ORIGIN; }
                location /latest/ { proxy_pass http://ORIGIN; expires max; }
                location /never/ { proxy_pass http://ORIGIN; expires -1; }
                location /valid/ { proxy_pass http://ORIGIN; proxy_cache_valid 200 301 10m; proxy_cache_valid 404 1m; }
                location /browser/ { proxy_pass http://ORIGIN; proxy_cache off; expires 1h; }
                location ^~ /open/ { proxy_pass http://ORIGIN; }
                location ~ /\\.well-known/ { return 404; }
                location ~ /\\. { deny all; }
                location ~* \\.(bak|sql)$ { return 404; }
                location ~ ^/users/([0-9]+)$ { return 302 http://a.example/people/$1; }
              }
            }
            """;

    NginxSideBySideTest() {
        super("nginx", List.of("/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"));
    }

    @Override
    List<String> command(String program, Path file) {
        return List.of(program, "-p", root().toString(), "-c", file.toString());
    }

    @Override
    ImportResult read(Path file) {
        return NginxImport.read(file, null);
    }

    @Override
    Set<String> differentFields() {
        return Set.of("Age", "Expires");
    }

    @Test
    @Tag("nightly")
    void rulesAndStoredResponsesAreTheSame() throws Exception {
        for (String path : List.of("/fresh", "/valid/fresh", "/off/fresh", "/args/fresh")) {
            origin().on(path, exchange -> exchange.answer(200, "body", "Cache-Control: max-age=600"));
        }
        origin().on("/plain", exchange -> exchange.answer(200, "body", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"));
        origin().on("/valid/plain", exchange -> exchange.answer(200, "body", "X-Any: 1"));
        origin().on("/valid/gone", exchange -> exchange.answer(404, "none", "X-Any: 1"));
        origin().on("/valid/never", exchange -> exchange.answer(200, "body", "Cache-Control: no-store"));
        origin().on("/private", exchange -> exchange.answer(200, "body", "Cache-Control: private, max-age=60"));
        origin().on("/expires", exchange -> exchange.answer(200, "body", "Expires: Fri, 01 Jan 2100 00:00:00 GMT"));
        origin().on("/error", exchange -> exchange.answer(500, "error", "X-Any: 1"));
        origin().on(
                        "/x/y/moved",
                        exchange -> exchange.answer(
                                302, "", "Location: http://127.0.0.1:" + origin().port() + "/x/y/there"));
        get("first.example", "/", "/a", "/a?q=1");
        get("unknown.example", "/", "/b/c");
        get("paths.example", "/", "/p", "/p?x=1&y=2", "/a/", "/a/b", "/a/b?q=1", "/a/long/x", "/a/moved");
        get("paths.example", "/strong/s", "/api/v1", "/rpc/call", "/apix", "/strip/s/t?u=1", "/strip/");
        get("paths.example", "/closed/x", "/here/x", "/there/x");
        get("one.wild.example", "/", "/a/b");
        get("wild.example", "/w");
        get("cached.example", "/fresh", "/fresh", "/fresh?v=2", "/fresh", "/plain", "/plain", "/private", "/private");
        get("cached.example", "/expires", "/expires", "/error", "/error");
        get("cached.example", "/valid/fresh", "/valid/fresh", "/valid/plain", "/valid/plain");
        get("cached.example", "/valid/gone", "/valid/gone", "/valid/never", "/valid/never");
        get("cached.example", "/off/fresh", "/off/fresh", "/args/fresh", "/args/fresh", "/args/fresh?fresh=1");
        get("cached.example", "/args/fresh?fresh=1");
        ask("GET", "cached.example", "/fresh", "Cache-Control: no-cache");
        ask("GET", "cached.example", "/fresh", "Cookie: a=b");
        ask("HEAD", "cached.example", "/fresh");
        origin().on("/fields", exchange -> exchange.answer(200, "body", "X-Origin: secret"));
        origin().on("/own/none", exchange -> exchange.answer(404, "none", "X-Origin: seen"));
        origin().on("/none", exchange -> exchange.answer(404, "none", "X-Origin: secret"));
        get("fields.example", "/fields", "/none", "/own/none", "/gone/x", "/old/x", "/blog/2020/a?b=c");
        ask("GET", "strict.example", "/m");
        ask("DELETE", "strict.example", "/m");
        ask("POST", "first.example", "/post");
        assertTrue(asked() >= 50, "requests actual=" + asked());
        compare(CONFIGURATION);
    }

    @Test
    @Tag("nightly")
    void kindsOfResponsesAreTheSame() throws Exception {
        serveKinds("/");
        serveKinds("/valid/");
        serveKinds("/browser/");
        origin().serves("/open/.git/config", "open", "Cache-Control: max-age=600");
        askForKinds("a.example", "/");
        askForKinds("a.example", "/valid/");
        get("a.example", "/browser/fresh", "/browser/expires", "/browser/no-store", "/browser/gone");
        get("a.example", "/.git/config", "/a/.htaccess", "/open/.git/config", "/x/.well-known/acme", "/dump.sql");
        get("a.example", "/DUMP.SQL", "/dump.sql.gz", "/users/12", "/users/a", "/fresh?old=1", "/fresh?old=0");
        for (String path : List.of("/exact", "/exact/longer", "/latest/fresh", "/never/fresh")) {
            origin().serves(path, "body", "Cache-Control: max-age=600");
        }
        get("a.example", "/exact", "/exact/longer", "/exact/.git", "/latest/fresh", "/latest/fresh", "/never/fresh");
        get("a.example", "/fresh?stop=1", "/fresh?stop=0", "/dump.sql?stop=1", "/exact?stop=1");
        for (String mode : List.of("on", "ON", "off", "")) {
            ask("GET", "a.example", "/exact", "X-Mode: " + mode);
        }
        for (String codings : List.of("gzip", "gzip", "deflate", "deflate")) {
            ask("GET", "a.example", "/coded", "Accept-Encoding: " + codings);
        }
        ask("GET", "a.example", "/public", "User-Agent: BadBot/1.0");
        ask("GET", "a.example", "/public", "User-Agent: Mozilla/5.0");
        assertTrue(asked() >= 200, "requests actual=" + asked());
        compare(SITES);
    }

    @Test
    void redirectionsAreTheSame() throws Exception {
        get("any.example", "/", "/a/b?c=d");
        get("new.example", "/", "/x?y=1");
        get("keep.example", "/k");
        get("paths.example", "/old/a", "/old/a/b?q=1", "/tmp/t?u");
        get("below.example", "/", "/z?q");
        get("www.below.example", "/deep/er");
        compare(REDIRECTIONS);
    }
}
