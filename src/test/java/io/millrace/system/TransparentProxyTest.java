package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests a transparent proxy on a router between two networks. Client, router and server have network namespaces of
 * their own; the router diverts connections to port 80 with the commands of the guide.
 */
@Tag("nightly")
class TransparentProxyTest {
    private static final String ID = "mr" + ProcessHandle.current().pid();
    private static final String CLIENT = ID + "c";
    private static final String ROUTER = ID + "r";
    private static final String SERVER = ID + "s";

    /** Arguments: names of the three namespaces. */
    private static final String NETWORK = """
            set -e
            for name in $1 $2 $3; do ip netns add $name; ip -n $name link set lo up; done
            ip link add vc netns $1 type veth peer name client netns $2
            ip link add vs netns $3 type veth peer name server netns $2
            ip -n $1 address add 10.77.1.2/24 dev vc
            ip -n $1 address add 10.77.1.3/24 dev vc
            ip -n $1 address add fd77:1::2/64 dev vc nodad
            ip -n $2 address add 10.77.1.1/24 dev client
            ip -n $2 address add fd77:1::1/64 dev client nodad
            ip -n $2 address add 10.77.2.1/24 dev server
            ip -n $2 address add fd77:2::1/64 dev server nodad
            ip -n $3 address add 10.77.2.2/24 dev vs
            ip -n $3 address add fd77:2::2/64 dev vs nodad
            ip -n $1 link set vc up; ip -n $2 link set client up
            ip -n $3 link set vs up; ip -n $2 link set server up
            ip -n $1 route add default via 10.77.1.1; ip -n $1 -6 route add default via fd77:1::1
            ip -n $3 route add default via 10.77.2.1; ip -n $3 -6 route add default via fd77:2::1
            ip netns exec $2 sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
            """;

    /** The commands of docs/guide/transparent-proxy.md for iptables; argument: port of the proxy. */
    private static final String DIVERSION = """
            set -e
            for tables in iptables ip6tables; do
                $tables -t mangle -N DIVERT
                $tables -t mangle -A DIVERT -j MARK --set-mark 1
                $tables -t mangle -A DIVERT -j ACCEPT
                $tables -t mangle -A PREROUTING -p tcp -m socket --transparent -j DIVERT
                $tables -t mangle -A PREROUTING -i client -p tcp --dport 80 -j TPROXY --on-port $1 --tproxy-mark 1
            done
            ip rule add fwmark 1 lookup 100
            ip route add local default dev lo table 100
            ip -6 rule add fwmark 1 lookup 100
            ip -6 route add local default dev lo table 100
            """;

    /** Answers with the address of the peer, the path and Via. */
    private static final String ORIGIN = """
            import http.server, socket
            class Server(http.server.ThreadingHTTPServer):
                address_family = socket.AF_INET6
            class Handler(http.server.BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"
                def do_GET(self):
                    peer = self.client_address[0].replace("::ffff:", "")
                    body = f"{peer} {self.path} {self.headers.get('Via')}".encode()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    stored = self.path.endswith("/stored")
                    self.send_header("Cache-Control", "max-age=600" if stored else "no-store")
                    self.end_headers()
                    self.wfile.write(body)
            print("ready", flush=True)
            Server(("::", 80), Handler).serve_forever()
            """;

    private static final int PORT = 3129;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static Process origin;

    @BeforeAll
    static void connect() throws IOException {
        assumeTrue(
                Command.run(Path.of("/"), List.of("id", "-u")).out().strip().equals("0"),
                "SKIPPED: network namespaces need root");
        for (String program : List.of("ip", "iptables", "ip6tables", "curl", "python3", "setpriv")) {
            assumeTrue(Command.isInstalled(program), "SKIPPED: " + program + " is not installed");
        }
        Command network = Command.run(Path.of("/"), List.of("sh", "-c", NETWORK, "sh", CLIENT, ROUTER, SERVER));
        assumeTrue(network.exitCode() == 0, () -> "SKIPPED: no network namespaces: " + network);
        Command diversion = in(ROUTER, "sh", "-c", DIVERSION, "sh", Integer.toString(PORT));
        assumeTrue(diversion.exitCode() == 0, () -> "SKIPPED: the kernel has no TPROXY: " + diversion);
        Path log = product.newDirectory().resolve("origin.log");
        origin = new ProcessBuilder("ip", "netns", "exec", SERVER, "python3", "-c", ORIGIN)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        in(CLIENT, "true").succeeds();
        org.awaitility.Awaitility.await("the origin starts")
                .until(() -> Files.readString(log).contains("ready"));
    }

    @AfterAll
    static void disconnect() {
        if (origin != null) {
            origin.destroy();
        }
        for (String name : List.of(CLIENT, ROUTER, SERVER)) {
            Command.run(Path.of("/"), List.of("ip", "netns", "del", name));
        }
    }

    private static Command in(String namespace, String... command) {
        List<String> line = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        line.addAll(List.of(command));
        return Command.run(Path.of("/"), line);
    }

    private static Path config(String mode) throws IOException {
        Path file = product.newDirectory().resolve("millrace.yaml");
        write(file, mode);
        return file;
    }

    private static void write(Path file, String mode) throws IOException {
        Files.writeString(file, """
                listen: [{address: ":%d", transparent: %s}]
                remap: [{map: "http://shop.example/", to: "http://10.77.2.2/shop/"}]
                forward_proxy:
                  enabled: true
                  allow: [10.77.1.0/24, "fd77:1::/64"]
                  allow_destinations: [10.77.2.0/24, "fd77:2::/64"]
                worker: {event_loops: 2, warm_up_limit: 500ms}
                """.formatted(PORT, mode));
    }

    private static MillraceProcess start(Path config) {
        return product.launch()
                .command(
                        "ip",
                        "netns",
                        "exec",
                        ROUTER,
                        product.home().resolve("bin/millrace").toString())
                .config(config)
                .listeningByFile(PORT)
                .start();
    }

    private static String get(String from, String... arguments) {
        List<String> line = new ArrayList<>(List.of("curl", "-sSg", "--max-time", "20", "--interface", from));
        line.addAll(List.of(arguments));
        return in(CLIENT, line.toArray(String[]::new)).succeeds().out();
    }

    @Test
    void clientAndServerSeeEachOther() throws Exception {
        Path file = config("both");
        MillraceProcess proxy = start(file);
        for (String client : List.of("10.77.1.2", "10.77.1.3", "10.77.1.2")) {
            assertEquals(client + " /peer 1.1 millrace", get(client, "http://10.77.2.2/peer"));
        }
        assertEquals("fd77:1::2 /peer 1.1 millrace", get("fd77:1::2", "http://[fd77:2::2]/peer"));
        assertEquals(
                "10.77.1.2 /shop/a 1.1 millrace",
                get("10.77.1.2", "--resolve", "shop.example:80:10.77.2.99", "http://shop.example/a"));
        assertEquals("10.77.1.2 /stored 1.1 millrace", get("10.77.1.2", "http://10.77.2.2/stored"));
        assertEquals("10.77.1.2 /stored 1.1 millrace", get("10.77.1.3", "http://10.77.2.2/stored"));

        // The Host field determines the response, whatever address the client connects to.
        assertEquals(
                "10.77.1.2 /stored 1.1 millrace",
                get("10.77.1.3", "-H", "Host: 10.77.2.2", "http://203.0.113.9/stored"));
        assertEquals("403", get("10.77.1.3", "-o", "/dev/null", "-w", "%{http_code}", "http://192.168.9.9/private"));

        proxy.killWorker();
        assertEquals("10.77.1.3 /peer 1.1 millrace", get("10.77.1.3", "http://10.77.2.2/peer"));

        write(file, "in");
        proxy.millctl("config", "reload").succeeds();
        assertEquals("10.77.2.1 /peer 1.1 millrace", get("10.77.1.3", "http://10.77.2.2/peer"));
        write(file, "both");
        proxy.millctl("config", "reload").succeeds();
        assertEquals("10.77.1.3 /peer 1.1 millrace", get("10.77.1.3", "http://10.77.2.2/peer"));
        proxy.stop();
    }

    /** The client knows the proxy, and the server sees the client. */
    @Test
    void outAloneServesClientsThatConnectToTheProxy() throws Exception {
        MillraceProcess proxy = start(config("out"));
        assertEquals(
                "10.77.1.3 /shop/a 1.1 millrace",
                get("10.77.1.3", "-H", "Host: shop.example", "http://10.77.1.1:" + PORT + "/a"));
        assertEquals(
                "10.77.1.2 /peer 1.1 millrace",
                get("10.77.1.2", "--proxy", "http://10.77.1.1:" + PORT, "http://10.77.2.2/peer"));
        proxy.stop();
    }

    @Test
    void withoutTheCapabilityTheStartFails_andTheMessageHasTheRemedy() throws Exception {
        for (String mode : List.of("in", "out")) {
            Command refused = in(
                    ROUTER,
                    "setpriv",
                    "--bounding-set=-net_admin,-net_raw",
                    "--inh-caps=-all",
                    product.home().resolve("bin/millrace").toString(),
                    "run",
                    "--config",
                    config(mode).toString(),
                    "--state",
                    product.newDirectory().toString());
            assertEquals(1, refused.exitCode(), refused::toString);
            String message = ":" + PORT + " cannot be transparent (listen[].transparent: " + mode + ")";
            assertTrue(refused.err().contains(message), refused::toString);
            assertTrue(refused.err().contains("CAP_NET_ADMIN"), refused::toString);
            assertFalse(refused.err().contains("\tat "), refused::toString);
        }
    }
}
