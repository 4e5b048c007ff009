package conduct

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Redisson returns how to start its performer, a Java program whose source is in
// dir. It is built unless that has been done for this very source: only then are
// Maven and Maven Central needed. warmup is how long each kind of work runs in a
// new JVM before anything is measured.
func Redisson(ctx context.Context, dir string, warmup time.Duration) (Command, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Command{}, fmt.Errorf("redisson: %w", err)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return Command{}, fmt.Errorf("redisson: no Java here: %w", err)
	}
	version, err := redissonVersion(filepath.Join(dir, "pom.xml"))
	if err != nil {
		return Command{}, fmt.Errorf("redisson: %w", err)
	}
	if err := buildJava(ctx, dir); err != nil {
		return Command{}, fmt.Errorf("redisson: %w", err)
	}
	target := filepath.Join(dir, "target")
	return Command{
		// Of the serial, the parallel and the G1 collector, the serial one did
		// most on two cores that client and server share.
		Argv: []string{java, "-Xmx512m", "-XX:+UseSerialGC",
			"-Dslf4j.internal.verbosity=ERROR", // it has no log, and need not say so
			fmt.Sprintf("-Dbench.warmup=%g", warmup.Seconds()),
			"-cp", filepath.Join(target, "classes") + string(os.PathListSeparator) + filepath.Join(target, "lib", "*"),
			"bench.Main"},
		Keep:    true,
		Version: version,
	}, nil
}

// redissonVersion reads the property of that name in a pom.
func redissonVersion(pom string) (string, error) {
	text, err := os.ReadFile(pom)
	if err != nil {
		return "", err
	}
	var project struct {
		Version string `xml:"properties>redisson.version"`
	}
	if err := xml.Unmarshal(text, &project); err != nil {
		return "", fmt.Errorf("%s: %w", pom, err)
	}
	if project.Version == "" {
		return "", fmt.Errorf("%s does not name a version of Redisson", pom)
	}
	return project.Version, nil
}

// buildJava compiles the program and collects the libraries that it needs.
func buildJava(ctx context.Context, dir string) error {
	stamp := filepath.Join(dir, "target", "stamp")
	want, err := hashSources(dir)
	if err != nil {
		return err
	}
	if got, err := os.ReadFile(stamp); err == nil && string(got) == want {
		return nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("no Maven to build %s with: %w", dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "clean", "compile", "dependency:copy-dependencies")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn in %s: %w\n%s", dir, err, out)
	}
	return os.WriteFile(stamp, []byte(want), 0o644)
}

// hashSources covers everything that the build depends on.
func hashSources(dir string) (string, error) {
	h := sha256.New()
	files := []string{filepath.Join(dir, "pom.xml")}
	err := filepath.WalkDir(filepath.Join(dir, "src"), func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".java") {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 1 {
		err = errors.New("there is no Java source in " + dir)
	}
	for _, name := range files {
		text, readErr := os.ReadFile(name)
		err = errors.Join(err, readErr)
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		_, _ = h.Write(text) // a hash never fails
	}
	if err != nil {
		return "", fmt.Errorf("read the Java source: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
