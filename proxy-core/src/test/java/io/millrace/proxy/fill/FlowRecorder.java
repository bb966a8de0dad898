package io.millrace.proxy.fill;

/** Records whether the origin may be read, and how often no reader was left. */
final class FlowRecorder implements ResponseTee.Feed {
    volatile boolean open = true;
    int timesWithoutReaders;
    int timesTooLarge;

    @Override
    public void setReading(boolean now) {
        open = now;
    }

    @Override
    public void onNoReaders() {
        timesWithoutReaders++;
    }

    @Override
    public void onTooLarge(long received) {
        timesTooLarge++;
    }
}
