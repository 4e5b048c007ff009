package interop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// guideStock is what the two programs of the guide take from.
const guideStock = "stock:42"

// guidePrograms are the guide's code blocks, by their language.
var guidePrograms = map[string]string{
	"java": "java/src/main/java/interop/Guide.java",
	"go":   "guide/main.go",
}

// TestGuide: the programs on the page are the ones that the suite runs.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../docs/REDISSON.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, file := range guidePrograms {
		program, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```"+language+"\n"+string(program)+"```\n") {
			t.Errorf("docs/REDISSON.md does not show %s as it is", file)
		}
	}
}

// guide runs both programs of the guide at once.
func (s *scene) guide(t *testing.T) {
	s.row(t, "guide", atOnce, func(t *testing.T) string {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		goProgram := filepath.Join(t.TempDir(), "guide")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", goProgram, "./guide").CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		if err := s.redis.Do("SET", guideStock, "200").Error(); err != nil {
			t.Fatal(err)
		}
		url := "redis://" + s.redis.Addr()
		args := append(append([]string{}, javaFlags...), "-cp", javaClasspath(t, s.version), "interop.Guide", url)
		failed := make(chan string, 2)
		for _, cmd := range []*exec.Cmd{exec.CommandContext(ctx, "java", args...), exec.CommandContext(ctx, goProgram, url)} {
			go func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					failed <- cmd.String() + ": " + err.Error() + "\n" + string(out)
					return
				}
				failed <- ""
			}()
		}
		for range 2 {
			if why := <-failed; why != "" {
				t.Error(why)
			}
		}
		if left := s.integer(t, "GET", guideStock); left != 0 {
			t.Errorf("%d of 200 items are left", left)
		}
		return "docs/REDISSON.md's two programs"
	})
}
