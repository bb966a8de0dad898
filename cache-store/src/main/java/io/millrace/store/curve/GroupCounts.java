package io.millrace.store.curve;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests and hits of a bounded number of groups of keys. Requests of further groups count for one common group.
 * Confined to the thread that computes the curve of hit ratios.
 */
final class GroupCounts {
    static final String OTHER = "(other)";

    private final int sizes;
    private final @Nullable String[] names;
    /** Numbers of the groups by name, without the common group. */
    private final Map<String, Integer> numbers = new HashMap<>();

    private final int[] keys;
    private final double[] requests;
    private final double[][] hits;

    GroupCounts(int groups, int sizes) {
        this.sizes = sizes;
        names = new String[groups + 1];
        names[groups] = OTHER;
        keys = new int[groups + 1];
        requests = new double[groups + 1];
        hits = new double[groups + 1][sizes];
    }

    /** Adds a key to the group with this name; returns the number of the group. */
    int addKey(String name) {
        Integer known = numbers.get(name);
        int group = known != null ? known : unused();
        if (known == null && group < names.length - 1) {
            String before = names[group];
            if (before != null) {
                numbers.remove(before);
            }
            names[group] = name;
            numbers.put(name, group);
            requests[group] = 0;
            Arrays.fill(hits[group], 0);
        }
        keys[group]++;
        return group;
    }

    /**
     * Returns the number of a group that a new name can replace: it has no keys and at most one request. If there is
     * none, returns the number of the common group.
     */
    private int unused() {
        for (int group = 0; group < names.length - 1; group++) {
            if (keys[group] == 0 && requests[group] <= 1) {
                return group;
            }
        }
        return names.length - 1;
    }

    void removeKey(int group) {
        keys[group]--;
    }

    void request(int group) {
        requests[group]++;
    }

    void hit(int group, int size) {
        hits[group][size]++;
    }

    void decay(double factor) {
        for (int group = 0; group < names.length; group++) {
            requests[group] *= factor;
            for (int size = 0; size < sizes; size++) {
                hits[group][size] *= factor;
            }
        }
    }

    /** Returns at most {@code max} groups with the most requests, in descending order. */
    List<CurveReport.Group> top(int max, double sampleRate) {
        List<CurveReport.Group> groups = new ArrayList<>();
        for (int group = 0; group < names.length; group++) {
            String name = names[group];
            if (name != null && requests[group] >= 1) {
                List<Double> ratios = new ArrayList<>();
                for (int size = 0; size < sizes; size++) {
                    ratios.add(hits[group][size] / requests[group]);
                }
                groups.add(new CurveReport.Group(name, Math.round(requests[group] / sampleRate), ratios));
            }
        }
        groups.sort(Comparator.comparingLong(CurveReport.Group::requests).reversed());
        return groups.subList(0, Math.min(max, groups.size()));
    }
}
