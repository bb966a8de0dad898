package io.millrace.system;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Reads every file of a tree through a port with the JDK's HTTP client and compares every byte. Thread-safe. */
final class TreeReader {

    private static final int THREADS = 8;
    private static final int PROBLEMS_MAX = 20;

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(20))
            .build();
    private final int port;

    TreeReader(int port) {
        this.port = port;
    }

    /** Fetches all entries and returns a line for each wrong response; ends after {@value #PROBLEMS_MAX}. */
    List<String> read(List<RealTree.Entry> entries) throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        Queue<String> problems = new ConcurrentLinkedQueue<>();
        try {
            List<Future<?>> reads = new ArrayList<>();
            for (RealTree.Entry entry : entries) {
                reads.add(threads.submit(() -> {
                    String problem = problems.size() < PROBLEMS_MAX ? compare(entry) : "";
                    if (!problem.isEmpty()) {
                        problems.add(problem);
                    }
                    return problem;
                }));
            }
            for (Future<?> read : reads) {
                read.get();
            }
            return List.copyOf(problems);
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        } finally {
            threads.shutdownNow();
        }
    }

    private String compare(RealTree.Entry entry) throws InterruptedException {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + entry.target()))
                    .timeout(Duration.ofSeconds(20))
                    .build();
            HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            if (response.statusCode() != 200) {
                return entry.target() + ": status " + response.statusCode();
            }
            byte[] expected = Files.readAllBytes(entry.file());
            int mismatch = Arrays.mismatch(expected, response.body());
            return mismatch < 0
                    ? ""
                    : entry.target() + ": wrong at byte " + mismatch + " of " + expected.length + ", got "
                            + response.body().length + " bytes";
        } catch (IOException e) {
            return entry.target() + ": " + e;
        }
    }
}
