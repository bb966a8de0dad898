package io.millrace.shipped;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Tests the Helm chart by helm's lint and template, and the rendered objects by the schemas of Kubernetes. */
class HelmChartTest {
    private static final Path CHART = Path.of("src/main/helm/millrace");
    private static final Path RULES = Path.of("src/main/dist/share/monitoring/prometheus-rules.yaml");
    private static final String HELM = "go install helm.sh/helm/v3/cmd/helm@v3.22.0";

    /** Helm assumes an old version if "go install" has built it. */
    private static final String KUBERNETES = "--kube-version=1.30.0";

    /** A release with every optional object. */
    private static final String ALL_VALUES = """
            replicas: 3
            listeners:
              - {name: http, port: 8080, servicePort: 80}
              - {name: https, port: 8443, servicePort: 443, tlsSecret: www}
            admin: {tlsSecret: admin, tokenSecret: tokens}
            service: {type: LoadBalancer, externalTrafficPolicy: Local, annotations: {a: b}}
            persistence: {storageClass: fast, size: 200Gi, cacheSize: 180GiB}
            serviceMonitor: {enabled: true, labels: {release: p}, tlsConfig: {serverName: millrace}}
            prometheusRule: {enabled: true, labels: {release: p}}
            priorityClassName: high
            nodeSelector: {disk: nvme}
            tolerations: [{key: edge, operator: Exists}]
            extraEnv: [{name: A, value: b}]
            config:
              limits: {connections: 50000}
              remap: [{map: /, to: "http://origin:80"}]
            """;

    @TempDir
    private Path directory;

    private Program helm(String... words) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>();
        line.add(Program.require("helm", HELM));
        line.addAll(List.of(words));
        return Program.run(Path.of("."), line);
    }

    private String render(String values, String... options) throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("values.yaml"), values);
        List<String> words =
                new ArrayList<>(List.of("template", "edge", CHART.toString(), KUBERNETES, "-f", file.toString()));
        words.addAll(List.of(options));
        return helm(words.toArray(String[]::new)).succeeds();
    }

    /** Returns the rendered objects by kind and name. */
    private static Map<String, Map<?, ?>> objects(String rendered) {
        Map<String, Map<?, ?>> objects = new TreeMap<>();
        LoadSettings settings = LoadSettings.builder().build();
        for (Object document : new Load(settings).loadAllFromString(rendered)) {
            if (document instanceof Map<?, ?> object) {
                objects.put(object.get("kind") + " " + at(object, "metadata.name"), object);
            }
        }
        return objects;
    }

    private static Object at(Object root, String path) {
        Object current = root;
        for (String name : path.split("\\.", -1)) {
            current = current instanceof List<?> list
                    ? list.get(Integer.parseInt(name))
                    : ((Map<?, ?>) current).get(name);
            assertNotNull(current, () -> path + " in " + root);
        }
        return current;
    }

    private static ConfigResult config(Map<String, Map<?, ?>> objects) {
        Map<?, ?> data = (Map<?, ?>) at(objects.get("ConfigMap edge-millrace"), "data");
        return ConfigLoader.parse(data.get("millrace.yaml").toString(), "millrace.yaml", Map.of());
    }

    private static void assertValid(ConfigResult result) {
        // The files of secrets exist in pods only.
        List<String> problems = result.text()
                .lines()
                .filter(line -> line.contains("unknown") || line.contains("must"))
                .toList();
        assertTrue(result.isOk() || problems.isEmpty(), result::text);
    }

    @Test
    void lintFindsNothing() throws IOException, InterruptedException {
        String output = helm("lint", "--strict", CHART.toString()).succeeds();
        assertTrue(output.contains("0 chart(s) failed"), output);
        Path values = Files.writeString(directory.resolve("values.yaml"), ALL_VALUES);
        helm("lint", "--strict", CHART.toString(), "-f", values.toString()).succeeds();
    }

    @Test
    void defaultsGiveAStatefulSetWithAVolume() throws IOException, InterruptedException {
        Map<String, Map<?, ?>> objects = objects(render("{}"));
        assertEquals(
                List.of(
                        "ConfigMap edge-millrace",
                        "PodDisruptionBudget edge-millrace",
                        "Secret edge-millrace-tokens",
                        "Service edge-millrace",
                        "Service edge-millrace-pods",
                        "ServiceAccount edge-millrace",
                        "StatefulSet edge-millrace"),
                List.copyOf(objects.keySet()));
        Map<?, ?> set = objects.get("StatefulSet edge-millrace");
        assertEquals("edge-millrace-pods", at(set, "spec.serviceName"));
        assertEquals("None", at(objects.get("Service edge-millrace-pods"), "spec.clusterIP"));
        assertEquals("20Gi", at(set, "spec.volumeClaimTemplates.0.spec.resources.requests.storage"));
        assertEquals(true, at(set, "spec.template.spec.securityContext.runAsNonRoot"));
        Object container = at(set, "spec.template.spec.containers.0");
        assertEquals(true, at(container, "securityContext.readOnlyRootFilesystem"));
        assertEquals(List.of("ALL"), at(container, "securityContext.capabilities.drop"));
        assertTrue(at(container, "readinessProbe").toString().contains("/readyz"), container::toString);
        assertTrue(at(container, "livenessProbe").toString().contains("/livez"), container::toString);
        assertTrue(at(container, "lifecycle.preStop").toString().contains("server drain; sleep 15"));
        assertEquals(at(set, "spec.selector.matchLabels"), at(objects.get("Service edge-millrace"), "spec.selector"));
        ConfigResult config = config(objects);
        assertValid(config);
        String text = at(objects.get("ConfigMap edge-millrace"), "data").toString();
        assertTrue(text.contains("/var/cache/millrace/objects") && text.contains("127.0.0.1:9090"), text);
    }

    @Test
    void everyOptionalObjectIsRendered() throws IOException, InterruptedException {
        Map<String, Map<?, ?>> objects = objects(render(ALL_VALUES));
        assertFalse(objects.containsKey("Secret edge-millrace-tokens"));
        Map<?, ?> monitor = objects.get("ServiceMonitor edge-millrace");
        assertEquals("tokens", at(monitor, "spec.endpoints.0.authorization.credentials.name"));
        assertEquals("millrace", at(monitor, "spec.endpoints.0.relabelings.0.replacement"));
        List<?> groups = (List<?>) at(objects.get("PrometheusRule edge-millrace"), "spec.groups");
        assertTrue(groups.size() >= 5, groups::toString);
        Object container = at(objects.get("StatefulSet edge-millrace"), "spec.template.spec.containers.0");
        assertEquals("HTTPS", at(container, "readinessProbe.httpGet.scheme"));
        String mounts = at(container, "volumeMounts").toString();
        assertTrue(mounts.contains("/secrets/tls-https") && mounts.contains("/secrets/admin-tls"), mounts);
        assertEquals("Local", at(objects.get("Service edge-millrace"), "spec.externalTrafficPolicy"));
        assertValid(config(objects));
    }

    @Test
    void withoutPersistenceThereIsNoClaim() throws IOException, InterruptedException {
        String rendered = render("persistence: {enabled: false}");
        assertFalse(rendered.contains("volumeClaimTemplates"), rendered);
        assertFalse(rendered.contains("/var/cache/millrace/objects"), rendered);
    }

    @Test
    void wrongValuesAreNamed() throws IOException, InterruptedException {
        for (String[] each : new String[][] {
            {"serviceMonitor: {enabled: true}", "needs admin.tlsSecret"},
            {"drainSeconds: 60", "must be longer than drainSeconds"},
            {"replica: 3", "replica"},
            {"config: {listen: [':80']}", "config"},
            {"listeners: [{name: http, port: 80, servicePort: 80}]", "port"},
        }) {
            Path file = Files.writeString(directory.resolve("values.yaml"), each[0]);
            Program program = helm("template", "edge", CHART.toString(), KUBERNETES, "-f", file.toString());
            assertEquals(1, program.exitCode(), program::output);
            assertTrue(program.output().contains(each[1]), program::output);
        }
    }

    @Test
    void objectsMatchTheSchemasOfKubernetes() throws IOException, InterruptedException {
        String validate = Program.require("kubernetes-validate", "pip install kubernetes-validate");
        int number = 0;
        for (String values : List.of("{}", ALL_VALUES, "persistence: {enabled: false}")) {
            for (Map.Entry<String, Map<?, ?>> object : objects(render(values)).entrySet()) {
                if (object.getValue().get("apiVersion").toString().startsWith("monitoring.coreos.com")) {
                    continue;
                }
                Path file = directory.resolve("object-" + number++ + ".json");
                Files.writeString(file, JsonText.of(object.getValue()));
                Program.run(Path.of("."), List.of(validate, "--strict", file.toString()))
                        .succeeds();
            }
        }
    }

    @Test
    void theChartHasTheShippedRules() throws IOException {
        assertEquals(
                Files.readString(RULES),
                Files.readString(CHART.resolve("files/prometheus-rules.yaml")),
                "copy " + RULES + " to files/ of the chart");
    }
}
