package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.ImportedRequests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which requests the restrictions of locations refuse, with a running proxy. */
final class AccessImportTest {
    private static final String ORIGIN = "proxy_pass http://127.0.0.1:9;";

    @TempDir
    Path directory;

    private ImportResult read(String server) throws IOException {
        Path file = Files.writeString(
                directory.resolve("nginx.conf"), "http {\nserver {\nlisten 80;\n" + server + "\n}\n}\n");
        return NginxImport.read(file, null);
    }

    static Stream<Arguments> servers() {
        return Stream.of(
                Arguments.of("an exact location is restricted, its surroundings are not", """
                        location / { P }
                        location = /x { allow 10.0.0.0/8; deny all; P }
                        """, """
                        10.0.0.1 /x ok
                        192.0.2.1 /x 403
                        192.0.2.1 /xy ok
                        192.0.2.1 /x/y ok
                        192.0.2.1 / ok
                        """),
                Arguments.of("an exact location is open, its surroundings are not", """
                        location / { allow 10.0.0.0/8; deny all; P }
                        location = /x { allow all; P }
                        """, """
                        192.0.2.1 /x ok
                        192.0.2.1 /xy 403
                        192.0.2.1 /x/y 403
                        10.0.0.1 /x/y ok
                        192.0.2.1 / 403
                        """),
                Arguments.of("an exact location has the path of its surroundings", """
                        location / { P }
                        location = / { allow 10.0.0.0/8; allow ::1; deny all; P }
                        """, """
                        192.0.2.1 / 403
                        10.0.0.1 / ok
                        ::1 / ok
                        192.0.2.1 /x ok
                        """),
                Arguments.of("an open exact location has the path of a restricted one", """
                        location /x { deny 192.0.2.0/24; P }
                        location = /x { P }
                        """, """
                        192.0.2.1 /x ok
                        192.0.2.1 /x/y 403
                        10.0.0.1 /x/y ok
                        """),
                Arguments.of("an answer of an exact location has no restriction", """
                        deny all;
                        location / { P }
                        location = /ping { return 204; }
                        location = /robots.txt { return 200 x; }
                        """, """
                        192.0.2.1 /ping 204
                        192.0.2.1 /ping/x 403
                        192.0.2.1 /robots.txt 200
                        192.0.2.1 /pong 403
                        """),
                Arguments.of("answers of exact locations without a location around", """
                        location = /ping { return 204; }
                        location = /a { P }
                        location /b/ { P }
                        """, """
                        192.0.2.1 /ping 204
                        192.0.2.1 /ping/x 404
                        192.0.2.1 /a ok
                        192.0.2.1 /a/b 404
                        """),
                Arguments.of("an answer of an exact location is for its path only", """
                        location / { allow 10.0.0.0/8; deny all; P }
                        location = /ping { return 204; }
                        """, """
                        192.0.2.1 /ping 204
                        192.0.2.1 /pingpong 403
                        10.0.0.1 /ping/pong ok
                        """),
                Arguments.of("refusals of exact locations", """
                        location / { P }
                        location = /a.php { deny all; }
                        location = /b { auth_basic x; P }
                        location = /c { internal; P }
                        location = /d { return 404; }
                        location = / { return 301 /home; }
                        """, """
                        192.0.2.1 /a.php 403
                        192.0.2.1 /a%2Ephp 403
                        192.0.2.1 /a.php5 ok
                        192.0.2.1 /b 403
                        192.0.2.1 /b/c ok
                        192.0.2.1 /c 404
                        192.0.2.1 /cc ok
                        192.0.2.1 /d 404
                        192.0.2.1 /dd ok
                        192.0.2.1 / 301
                        192.0.2.1 /e ok
                        """),
                Arguments.of("an exact location and a longer restricted one", """
                        location = /a { P }
                        location /a/b { deny all; P }
                        location / { P }
                        """, """
                        192.0.2.1 /a ok
                        192.0.2.1 /a/b 403
                        192.0.2.1 /a/c ok
                        """),
                Arguments.of("an exact location before expressions", """
                        location / { P }
                        location = /a.php { P }
                        location = / { allow 10.0.0.0/8; deny all; P }
                        location ~ \\.php$ { deny all; }
                        """, """
                        192.0.2.1 /a.php ok
                        192.0.2.1 /b.php 403
                        192.0.2.1 /a.php/b.php 403
                        """),
                Arguments.of("authentication around an open exact location", """
                        location / { auth_basic x; P }
                        location = /open { auth_basic off; P }
                        """, """
                        192.0.2.1 /open ok
                        192.0.2.1 /opened 403
                        192.0.2.1 /open/secret 403
                        """),
                Arguments.of("internal locations", """
                        location / { P }
                        location /files/ { internal; P }
                        location ~ \\.hidden$ { internal; }
                        """, """
                        192.0.2.1 /files/a 403
                        192.0.2.1 /a.hidden 404
                        """),
                Arguments.of("methods of the server in a location with conditions", """
                        if ($request_method !~ ^(GET|HEAD)$) { return 405; }
                        location / { if ($http_x = 1) { return 403; } P }
                        """, """
                        GET 192.0.2.1 / ok
                        POST 192.0.2.1 / 405
                        """),
                Arguments.of("the methods of limit_except have the restrictions around", """
                        location / { allow 10.0.0.0/8; deny all; limit_except GET { allow 10.0.0.1; deny all; } P }
                        """, """
                        GET 192.0.2.1 / 403
                        GET 10.0.0.2 / ok
                        POST 10.0.0.2 / 403
                        POST 10.0.0.1 / ok
                        """),
                Arguments.of("authentication in limit_except", """
                        location / { limit_except GET { allow 10.0.0.0/8; auth_basic x; } P }
                        """, """
                        GET 192.0.2.1 / ok
                        POST 10.0.0.1 / 403
                        """),
                Arguments.of("expressions that ignore the case", """
                        location / { P }
                        location ~* ^/admin { deny all; }
                        location ~* ^/old/ { return 410; }
                        """, """
                        192.0.2.1 /ADMIN/x 403
                        192.0.2.1 /admin 403
                        192.0.2.1 /OLD/a 410
                        """),
                Arguments.of("expressions that end at a slash", """
                        location / { allow 10.0.0.0/8; deny all; P }
                        location ~ ^/public(/|$) { allow all; P }
                        """, """
                        192.0.2.1 /public ok
                        192.0.2.1 /public/a ok
                        192.0.2.1 /publicity 403
                        """),
                Arguments.of("paths of expressions below a prefix that extends one with ^~", """
                        location ^~ /s/ { P }
                        location /s/i/ { P }
                        location ~ ^/s/i/private/ { deny all; }
                        location / { P }
                        """, """
                        192.0.2.1 /s/i/private/a 403
                        192.0.2.1 /s/i/a ok
                        """),
                Arguments.of("an expression is restricted in all locations that nginx compares", """
                        location / { deny 192.0.2.0/24; P }
                        location /b/ { P }
                        location ^~ /c/ { P }
                        location ~ \\.css$ { deny 192.0.2.0/24; P }
                        """, """
                        192.0.2.1 /a.css 403
                        192.0.2.1 /b/a.css 403
                        192.0.2.1 /b/a.js ok
                        192.0.2.1 /c/a.css ok
                        10.0.0.1 /b/a.css ok
                        """),
                Arguments.of("an expression has a shorter list of clients", """
                        location / { allow 10.0.0.1; allow 10.0.0.2; deny all; P }
                        location ~ \\.css$ { allow 10.0.0.1; deny all; P }
                        """, """
                        10.0.0.1 /a.css ok
                        10.0.0.2 /a.css 403
                        10.0.0.2 /a.js ok
                        192.0.2.1 /a.js 403
                        """),
                Arguments.of("an expression without an origin is restricted", """
                        location /app/ { P }
                        location ~ \\.php$ { auth_basic x; fastcgi_pass 127.0.0.1:9; }
                        location ~ \\.cgi$ { if ($http_x !~ 1) { return 403; } P }
                        """, """
                        10.0.0.1 /app/a.php 403
                        10.0.0.1 /app/a.cgi 403
                        10.0.0.1 /app/a ok
                        """),
                Arguments.of("an expression inherits restrictions that a location replaces", """
                        deny 192.0.2.0/24;
                        location / { allow all; P }
                        location ~ \\.css$ { P }
                        """, """
                        192.0.2.1 /a.css 403
                        192.0.2.1 /a.js ok
                        """),
                Arguments.of("restrictions of a location with try_files", """
                        location / { allow 10.0.0.0/8; deny all; try_files $uri @app; }
                        location /b/ { auth_basic x; try_files $uri @app; }
                        location /c/ { try_files $uri @app; }
                        location = /d { deny all; try_files $uri @app; }
                        location @app { deny 10.0.0.1; P }
                        """, """
                        192.0.2.1 /a 403
                        10.0.0.1 /a 403
                        10.0.0.2 /a ok
                        10.0.0.2 /b/a 403
                        192.0.2.1 /c/a ok
                        10.0.0.1 /c/a 403
                        10.0.0.2 /d 403
                        10.0.0.2 /dd ok
                        """),
                Arguments.of("an open exact location below restricted try_files", """
                        location / { allow 10.0.0.0/8; deny all; try_files $uri @app; }
                        location = /open { P }
                        location = /ping { return 204; }
                        location @app { P }
                        """, """
                        192.0.2.1 /open ok
                        192.0.2.1 /open/a 403
                        10.0.0.1 /open/a ok
                        192.0.2.1 /ping 204
                        192.0.2.1 /a 403
                        10.0.0.1 /a ok
                        """),
                Arguments.of("a restricted expression that ignores the case", """
                        location / { P }
                        location ~* ^/admin/ { allow 10.0.0.0/8; deny all; P }
                        """, """
                        192.0.2.1 /admin/ 403
                        192.0.2.1 /Admin/ 403
                        10.0.0.1 /ADMIN/a ok
                        10.0.0.1 /admin/a ok
                        192.0.2.1 /a ok
                        """),
                Arguments.of("a server at a loopback address beside a public one", """
                        location / { P }
                        }
                        server {
                        listen 127.0.0.1:80;
                        server_name a.example;
                        location / { P }
                        location = /ping { return 204; }
                        """, """
                        192.0.2.1 / 403
                        192.0.2.1 /ping 403
                        127.0.0.1 / ok
                        127.0.0.1 /ping 204
                        """),
                Arguments.of("IPv4-mapped addresses", """
                        location / { deny ::ffff:192.0.2.0/120; P }
                        location /a { allow ::ffff:192.0.2.1; deny all; P }
                        """, """
                        192.0.2.1 / 403
                        192.0.3.1 / ok
                        192.0.2.1 /a 403
                        """),
                Arguments.of("IPv6 addresses", """
                        location / { deny 2001:DB8::1; allow 2001:db8::/32; deny ::/0; P }
                        """, """
                        2001:db8::1 / 403
                        2001:db8::2 / ok
                        2001:db9::1 / 403
                        192.0.2.1 / ok
                        """));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("servers")
    void requestsAreRefusedAsInNginx(String name, String server, String expected) throws IOException {
        try (ImportedRequests requests =
                new ImportedRequests(read(server.replace(" P ", " " + ORIGIN + " ")), directory)) {
            requests.assertAnswers(expected);
        }
    }
}
